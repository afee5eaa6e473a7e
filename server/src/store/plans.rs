//! Table `plans`.

use sqlx::PgConnection;

use crate::store::error::StoreError;

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
