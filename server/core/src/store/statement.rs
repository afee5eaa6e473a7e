//! Forms of statements that several tables share.

use sqlx::{PgExecutor, Postgres, postgres::PgArguments, query::Query};

use crate::store::error::StoreError;

/// A checked statement that returns no rows, with its arguments.
type Statement<'q> = Query<'q, Postgres, PgArguments>;

pub(super) async fn execute(db: impl PgExecutor<'_>, statement: Statement<'_>) -> Result<(), StoreError> {
    count_changes(db, statement).await.map(drop)
}

/// Executes a statement and returns whether it changed one row.
pub(super) async fn changes_one(db: impl PgExecutor<'_>, statement: Statement<'_>) -> Result<bool, StoreError> {
    Ok(count_changes(db, statement).await? == 1)
}

/// Executes a statement and returns the number of rows that it changed.
pub(super) async fn count_changes(db: impl PgExecutor<'_>, statement: Statement<'_>) -> Result<u64, StoreError> {
    Ok(statement.execute(db).await?.rows_affected())
}

/// Fetches rows of the account `$1` that have the status `$2`, or any status if that is null. Most rows end with the
/// status `$usual`. The others have an index of their own, which Postgres uses only if the statement excludes all usual
/// rows.
macro_rules! list_by_state {
    (
        $db:expr, $row:ident, $before:literal, $column:literal, $usual:literal, $after:literal,
        $account:expr, $state:expr, $($argument:expr),+ $(,)?
    ) => {
        match $state {
            None | Some($usual) => {
                sqlx::query_as!(
                    $row, $before + "($2::text is null or " + $column + " = $2)" + $after,
                    $account.0, $state, $($argument),+
                )
                .fetch_all($db)
                .await
            }
            Some(_) => {
                sqlx::query_as!(
                    $row, $before + $column + " <> '" + $usual + "' and " + $column + " = $2::text" + $after,
                    $account.0, $state, $($argument),+
                )
                .fetch_all($db)
                .await
            }
        }
    };
}
pub(super) use list_by_state;
