//! Tables `instance_health` and `health_minutes`. Times of reports come from the database's clock.

use platen_domain::{
    health::{
        minute::{Minute, Tally},
        process::HeardOf,
        state::InstanceState,
    },
    ids::InstanceId,
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// Identity of a process.
#[derive(Debug, Clone)]
pub struct Identity {
    pub instance: InstanceId,
    /// Host name.
    pub host: String,
    /// `all`, `web` or `worker`.
    pub role: &'static str,
    /// Release of the service.
    pub version: &'static str,
    pub started_at: OffsetDateTime,
}

/// Records the state of a process.
pub async fn put(db: &mut PgConnection, process: &Identity, state: &InstanceState) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into instance_health (instance, host, role, version, started_at, seen_at, state)
         values ($1, $2, $3, $4, $5, now(), $6)
         on conflict (instance) do update set seen_at = excluded.seen_at, state = excluded.state",
        process.instance.0,
        process.host,
        process.role,
        process.version,
        process.started_at,
        json(state),
    );
    execute(db, insert).await
}

/// Records what a process did in a minute, replacing an earlier record of that minute.
pub async fn put_minute(db: &mut PgConnection, instance: InstanceId, minute: &Minute) -> Result<(), StoreError> {
    let tally = &minute.tally;
    let insert = sqlx::query!(
        "insert into health_minutes (minute, instance, succeeded, failed, cancelled, browsers_died, browsers_retired,
            egress_refusals, peak_waiting, detail)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (minute, instance) do update set succeeded = excluded.succeeded, failed = excluded.failed,
            cancelled = excluded.cancelled, browsers_died = excluded.browsers_died,
            browsers_retired = excluded.browsers_retired, egress_refusals = excluded.egress_refusals,
            peak_waiting = excluded.peak_waiting, detail = excluded.detail",
        minute.minute,
        instance.0,
        tally.succeeded.cast_signed(),
        tally.failed.cast_signed(),
        tally.cancelled.cast_signed(),
        tally.browsers_died.cast_signed(),
        tally.browsers_retired.cast_signed(),
        tally.egress_refusals.cast_signed(),
        minute.peak_waiting.cast_signed(),
        json(&tally.detail),
    );
    execute(db, insert).await
}

/// Deletes the state of a process that stops. Its minutes remain.
pub async fn delete(db: &PgPool, instance: InstanceId) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from instance_health where instance = $1", instance.0);
    execute(db, delete).await
}

/// Returns the last reports of all processes, by start time, oldest first.
pub async fn list(db: &PgPool) -> Result<Vec<HeardOf>, StoreError> {
    let heard = sqlx::query!(
        r#"select instance, host, role, version, started_at, state,
               extract(epoch from now() - seen_at)::float8 as "unseen_seconds!"
           from instance_health order by started_at, instance"#
    )
    .map(|row| HeardOf {
        instance: InstanceId(row.instance),
        host: row.host,
        role: row.role,
        version: row.version,
        started_at: row.started_at,
        unseen_seconds: row.unseen_seconds,
        state: understood(row.state),
    });
    Ok(heard.fetch_all(db).await?)
}

/// Returns what processes did in each minute from `since` on, oldest first.
pub async fn minutes(db: &PgPool, since: OffsetDateTime) -> Result<Vec<(InstanceId, Minute)>, StoreError> {
    let minutes = sqlx::query!(
        "select minute, instance, succeeded, failed, cancelled, browsers_died, browsers_retired, egress_refusals,
            peak_waiting, detail
         from health_minutes
         where minute >= $1 order by minute, instance",
        since,
    )
    .map(|row| {
        let minute = Minute {
            minute: row.minute,
            tally: Tally {
                succeeded: row.succeeded.unsigned_abs(),
                failed: row.failed.unsigned_abs(),
                cancelled: row.cancelled.unsigned_abs(),
                browsers_died: row.browsers_died.unsigned_abs(),
                browsers_retired: row.browsers_retired.unsigned_abs(),
                egress_refusals: row.egress_refusals.unsigned_abs(),
                detail: understood(row.detail),
            },
            peak_waiting: row.peak_waiting.unsigned_abs(),
        };
        (InstanceId(row.instance), minute)
    });
    Ok(minutes.fetch_all(db).await?)
}

/// Totals of a longer time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Browsers that were replaced because they died.
    pub browsers_died: i64,
    /// Browsers that were replaced after their maximum number of renders.
    pub browsers_retired: i64,
    /// Hosts that the egress policy refused.
    pub egress_refusals: i64,
    /// Highest number of renders that ended within one minute.
    pub peak: i64,
    /// The minute of that peak.
    pub peak_at: Option<OffsetDateTime>,
}

/// Sums up what all processes, or one of them, did from `since` on.
pub async fn summary(db: &PgPool, since: OffsetDateTime, only: Option<InstanceId>) -> Result<Summary, StoreError> {
    let summary = sqlx::query_as!(
        Summary,
        r#"with minutes as (
               select minute, sum(browsers_died) as died, sum(browsers_retired) as retired,
                   sum(egress_refusals) as refusals, sum(succeeded + failed + cancelled) as ended
               from health_minutes
               where minute >= $1 and ($2::uuid is null or instance = $2)
               group by minute)
           select coalesce(sum(died), 0)::bigint as "browsers_died!",
               coalesce(sum(retired), 0)::bigint as "browsers_retired!",
               coalesce(sum(refusals), 0)::bigint as "egress_refusals!",
               coalesce(max(ended), 0)::bigint as "peak!",
               (select minute from minutes where ended > 0 order by ended desc, minute desc limit 1) as peak_at
           from minutes"#,
        since,
        only.map(|instance| instance.0),
    );
    Ok(summary.fetch_one(db).await?)
}

/// Deletes minutes before `before`, and processes that haven't reported for `silent_seconds`.
pub async fn purge(db: &PgPool, before: OffsetDateTime, silent_seconds: f64) -> Result<(), StoreError> {
    sqlx::query!("delete from health_minutes where minute < $1", before)
        .execute(db)
        .await?;
    let delete = sqlx::query!(
        "delete from instance_health where seen_at < now() - $1::float8 * interval '1 s'",
        silent_seconds
    );
    execute(db, delete).await
}

fn json(value: &impl serde::Serialize) -> Value {
    // Can't fail: these are plain maps with strings as keys.
    serde_json::to_value(value).unwrap_or_default()
}

/// Falls back to the default for a value that another release has written differently.
fn understood<T: serde::de::DeserializeOwned + Default>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_default()
}
