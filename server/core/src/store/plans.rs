//! Table `plans`.

use platen_domain::{ids::AccountId, plan::Plan};
use sqlx::{PgConnection, PgPool};

use crate::store::error::StoreError;

/// Returns all plans, smallest first.
pub async fn list(db: &PgPool) -> Result<Vec<Plan>, StoreError> {
    let plans = sqlx::query_as!(
        Plan,
        r#"select name, credits, concurrency, rate_per_minute, body_bytes, retention_days,
            (storage_limits ->> 'queued_renders')::bigint as "queued_renders!",
            (storage_limits ->> 'document_bytes')::bigint as "document_bytes!",
            (storage_limits ->> 'templates')::bigint as "templates!"
           from plans order by credits, name"#,
    );
    Ok(plans.fetch_all(db).await?)
}

/// Returns the number of days for which the account's plan retains renders. `None` if the account doesn't exist.
pub async fn find_retention(db: &PgPool, account: AccountId) -> Result<Option<i32>, StoreError> {
    let days = sqlx::query_scalar!(
        "select plans.retention_days from accounts join plans on plans.name = accounts.plan where accounts.id = $1",
        account.0,
    );
    Ok(days.fetch_optional(db).await?)
}

/// Returns a plan's name as stored, found regardless of case.
pub async fn find_name(db: &mut PgConnection, name: &str) -> Result<Option<String>, StoreError> {
    let found = sqlx::query_scalar!("select name from plans where lower(name) = lower($1)", name);
    Ok(found.fetch_optional(db).await?)
}

/// Returns the names of all plans, smallest first.
pub async fn list_names(db: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    let names = sqlx::query_scalar!("select name from plans order by credits, name");
    Ok(names.fetch_all(db).await?)
}
