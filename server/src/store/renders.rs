//! Table `renders`.

use platen_engine::job::{PhaseTimes, RenderedDocument};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::ids::{AccountId, ApiKeyId, InstanceId, RenderId},
    store::error::StoreError,
};

/// A render that begins at once, while its caller waits.
pub struct NewRender {
    /// Identifier.
    pub id: RenderId,
    /// With which key it was asked for.
    pub key: ApiKeyId,
    /// False for test keys.
    pub livemode: bool,
    /// The process that renders it.
    pub instance: InstanceId,
    /// The request without its content.
    pub options: Value,
}

/// Adds a render that is under way.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: NewRender,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into renders (id, account_id, api_key_id, mode, status, livemode, instance, options, inserted_at)
         values ($1, $2, $3, 'sync', 'processing', $4, $5, $6, $7)",
        render.id.0,
        account.0,
        render.key.0,
        render.livemode,
        render.instance.0,
        storable(render.options),
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// How many live renders of an account are under way, without the one with this id.
pub async fn count_under_way(db: &mut PgConnection, account: AccountId, except: RenderId) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from renders
         where account_id = $1 and id <> $2 and livemode and finished_at is null"#,
        account.0,
        except.0,
    );
    Ok(count.fetch_one(db).await?)
}

/// The processes that have renders under way whose callers wait, but for `except`.
pub async fn list_instances(db: &PgPool, except: InstanceId) -> Result<Vec<InstanceId>, StoreError> {
    let instances = sqlx::query_scalar!(
        r#"select distinct instance as "instance!" from renders
         where mode = 'sync' and finished_at is null and instance <> $1"#,
        except.0,
    );
    Ok(instances.fetch_all(db).await?.into_iter().map(InstanceId).collect())
}

/// Ends the renders of a process whose callers waited; says how many.
pub async fn fail_of_instance(
    db: &mut PgConnection,
    instance: InstanceId,
    error: Value,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let done = sqlx::query!(
        "update renders set status = 'failed', error = $2, finished_at = $3
         where mode = 'sync' and finished_at is null and instance = $1",
        instance.0,
        error,
        now,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected())
}

/// What became of a render.
pub enum Ending {
    /// There is a document.
    Succeeded {
        /// Its figures.
        success: Success,
        /// What was charged for it.
        credits: i64,
    },
    /// There is none; what the caller was told.
    Failed(Value),
    /// Nobody waits for it any more.
    Cancelled,
}

/// The figures of a document.
pub struct Success {
    conformance: Option<&'static str>,
    page_count: i32,
    bytes: i64,
    phase_times: Value,
    warnings: Value,
    requests: Value,
    queued_ms: f64,
}

impl From<&RenderedDocument> for Success {
    fn from(document: &RenderedDocument) -> Self {
        let warnings = document.warnings.iter();
        let requests = document.requests.iter();
        Self {
            conformance: document.conformance,
            page_count: i32::try_from(document.page_count).unwrap_or(i32::MAX),
            bytes: i64::try_from(document.pdf.len()).unwrap_or(i64::MAX),
            phase_times: phase_times(&document.phases),
            warnings: warnings
                .map(|warning| json!({"code": warning.code, "message": warning.message}))
                .collect(),
            requests: requests
                .map(|request| {
                    json!({
                        "url": request.url, "status": request.status, "error": request.error, "refused": request.refused,
                    })
                })
                .collect(),
            queued_ms: milliseconds(document.phases.queue),
        }
    }
}

/// Ends a render that is under way. `false`: it has ended already, and stays as it is.
pub async fn finish(
    db: &mut PgConnection,
    account: AccountId,
    id: RenderId,
    ending: Ending,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let done = match ending {
        Ending::Succeeded { success, credits } => {
            sqlx::query!(
                "update renders
                 set status = 'succeeded', page_count = $3, bytes = $4, phase_times = $5, warnings = $6, requests = $7,
                     started_at = inserted_at + $8::float8 * interval '1 ms', finished_at = $9, conformance = $10,
                     credits = $11
                 where account_id = $1 and id = $2 and status = 'processing'",
                account.0,
                id.0,
                success.page_count,
                success.bytes,
                success.phase_times,
                storable(success.warnings),
                storable(success.requests),
                success.queued_ms,
                now,
                success.conformance,
                credits,
            )
            .execute(db)
            .await?
        }
        Ending::Failed(error) => {
            sqlx::query!(
                "update renders set status = 'failed', error = $3, finished_at = $4
                 where account_id = $1 and id = $2 and status = 'processing'",
                account.0,
                id.0,
                storable(error),
                now,
            )
            .execute(db)
            .await?
        }
        Ending::Cancelled => {
            sqlx::query!(
                "update renders set status = 'cancelled', finished_at = $3
                 where account_id = $1 and id = $2 and status = 'processing'",
                account.0,
                id.0,
                now,
            )
            .execute(db)
            .await?
        }
    };
    Ok(done.rows_affected() == 1)
}

fn phase_times(phases: &PhaseTimes) -> Value {
    let times = phases.by_phase().into_iter();
    times
        .map(|(phase, duration)| (phase.as_str(), milliseconds(duration)))
        .collect()
}

fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// PostgreSQL's `jsonb` takes no U+0000, which pages and requests may hold.
fn storable(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").into(),
        Value::Array(items) => items.into_iter().map(storable).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, storable(value)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_database_takes() {
        let stored = storable(json!({"a": ["x\0y", {"b": "\0"}, 1, null]}));
        assert_eq!(stored, json!({"a": ["x\u{fffd}y", {"b": "\u{fffd}"}, 1, null]}));
    }
}
