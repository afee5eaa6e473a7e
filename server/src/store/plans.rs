//! Table `plans`.

use sqlx::{PgConnection, PgPool};

use crate::{domain::ids::AccountId, store::error::StoreError};

/// What a plan offers.
#[derive(Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Credits of each month.
    pub credits: i64,
    /// Renders running or waiting at once.
    pub concurrency: i32,
    /// Requests a minute.
    pub rate_per_minute: i32,
    /// Largest body of a request.
    pub body_bytes: i32,
    /// For how long the content and the thumbnails of renders are kept.
    pub retention_days: i32,
    /// Renders that may be queued.
    pub queued_renders: i64,
    /// Documents in default storage.
    pub document_bytes: i64,
    /// Templates.
    pub templates: i64,
}

/// All plans, the smallest first.
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

/// For how many days the plan of an account keeps renders.
pub async fn find_retention(db: &PgPool, account: AccountId) -> Result<Option<i32>, StoreError> {
    let days = sqlx::query_scalar!(
        "select plans.retention_days from accounts join plans on plans.name = accounts.plan where accounts.id = $1",
        account.0,
    );
    Ok(days.fetch_optional(db).await?)
}

/// A plan's name as it is written; looked for without regard to case.
pub async fn find_name(db: &mut PgConnection, name: &str) -> Result<Option<String>, StoreError> {
    let found = sqlx::query_scalar!("select name from plans where lower(name) = lower($1)", name);
    Ok(found.fetch_optional(db).await?)
}

/// The names of all plans, the smallest first.
pub async fn list_names(db: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    let names = sqlx::query_scalar!("select name from plans order by credits, name");
    Ok(names.fetch_all(db).await?)
}
