//! Statistics of an account's renders.

use platen_domain::{
    ids::{AccountId, ApiKeyId},
    render::statistics::{RenderGlance, RenderStep, TIMED},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::error::StoreError;

/// Durations of renders, from acceptance to the end, in milliseconds.
pub struct Durations {
    pub median_ms: Option<f64>,
    pub percentile_95_ms: Option<f64>,
}

/// Returns the durations of the latest [`TIMED`] succeeded renders that were accepted in a range of time, of all keys or of one.
pub async fn durations(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    [from, until]: [OffsetDateTime; 2],
) -> Result<Durations, StoreError> {
    // An index finds the renders of a key only if the statement names it.
    macro_rules! durations {
        ($condition:literal) => {
            sqlx::query_as!(
                Durations,
                "with latest as (
                       select extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
                       from renders
                       where account_id = $1 and status = 'succeeded' and inserted_at >= $3 and inserted_at < $4 and "
                    + $condition
                    + "
                       order by inserted_at desc, id desc
                       limit $5
                   )
                   select percentile_cont(0.5) within group (order by milliseconds) as median_ms,
                       percentile_cont(0.95) within group (order by milliseconds) as percentile_95_ms
                   from latest",
                account.0,
                key.map(|key| key.0),
                from,
                until,
                TIMED,
            )
            .fetch_one(db)
            .await
        };
    }
    let durations = match key {
        None => durations!("$2::uuid is null"),
        Some(_) => durations!("api_key_id = $2"),
    };
    Ok(durations?)
}

/// Returns the number of renders that were accepted in a range of time and have ended, of all keys or of one. `None` if
/// the range begins before the retention of the account's plan, so that some may be deleted.
pub async fn count(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    [from, until]: [OffsetDateTime; 2],
    now: OffsetDateTime,
) -> Result<Option<i64>, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select case when plans.retention_days * interval '1 day' >= $5::timestamptz - $3::timestamptz then (
               select coalesce(sum(succeeded + failed), 0)::bigint from count_by_hour($1, $2, $3, $4)) end
           from accounts join plans on plans.name = accounts.plan where accounts.id = $1"#,
        account.0,
        key.map(|key| key.0),
        from,
        until,
        now,
    );
    Ok(count.fetch_optional(db).await?.flatten())
}

/// Returns the renders that were accepted in a range of time by day, or by hour, in UTC. Intervals without renders may be
/// omitted.
pub async fn steps(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    [from, until]: [OffsetDateTime; 2],
    by_hour: bool,
) -> Result<Vec<RenderStep>, StoreError> {
    let steps = sqlx::query_as!(
        RenderStep,
        r#"select date_trunc($5, hour, 'UTC') as "from!", sum(succeeded)::bigint as "succeeded!",
               sum(failed)::bigint as "failed!"
           from count_by_hour($1, $2, $3, $4)
           group by 1 order by 1"#,
        account.0,
        key.map(|key| key.0),
        from,
        until,
        if by_hour { "hour" } else { "day" },
    );
    Ok(steps.fetch_all(db).await?)
}

/// Returns up to `most` renders of an account, newest first.
pub async fn latest(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<RenderGlance>, StoreError> {
    let glances = sqlx::query_as!(
        RenderGlance,
        r#"select id, status as state, extract(epoch from finished_at - inserted_at)::float8 * 1000 as milliseconds
           from renders where account_id = $1
           order by inserted_at desc, id desc limit $2"#,
        account.0,
        most,
    );
    Ok(glances.fetch_all(db).await?)
}
