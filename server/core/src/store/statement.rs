//! Forms of statements that several tables share.

use std::time::Duration;

use sqlx::{PgExecutor, Postgres, postgres::PgArguments, query::Query};
use tokio::time::timeout;

use crate::store::error::StoreError;

/// How long statements may take on which the work of a whole process depends.
pub const LONGEST_STATEMENTS: Duration = Duration::from_secs(20);

/// A checked statement that returns no rows, with its arguments.
type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Fails if statements take longer than [`LONGEST_STATEMENTS`]. Otherwise they would wait a quarter of an hour, or for ever, for a
/// response that a network has lost: the sockets of connections have no timeouts.
pub async fn bounded<T, E: From<StoreError>>(statements: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let done = timeout(LONGEST_STATEMENTS, statements).await;
    done.unwrap_or_else(|_| Err(StoreError::late().into()))
}

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
        $db:expr, $row:ident, $($before:literal)+, $column:literal, $usual:literal, $($after:literal)+,
        $account:expr, $state:expr, $($argument:expr),+ $(,)?
    ) => {
        match $state {
            None | Some($usual) => {
                sqlx::query_as!(
                    $row, $($before +)+ "($2::text is null or " + $column + " = $2)" $(+ $after)+,
                    $account.0, $state, $($argument),+
                )
                .fetch_all($db)
                .await
            }
            Some(_) => {
                sqlx::query_as!(
                    $row, $($before +)+ $column + " <> '" + $usual + "' and " + $column + " = $2::text" $(+ $after)+,
                    $account.0, $state, $($argument),+
                )
                .fetch_all($db)
                .await
            }
        }
    };
}
pub(super) use list_by_state;

/// Deletes rows of a table with content of renders, of all accounts: those whose renders have ended and were accepted
/// longer ago than the retention of their plans; the row of a render may remain for its document. Reads up to `$at_most`
/// rows, deletes everything that the table has of their renders, and returns the number of deleted rows.
macro_rules! delete_old_content {
    ($db:expr, $table:literal, $now:expr, $at_most:expr) => {{
        let delete = sqlx::query!(
            "delete from "
                + $table
                + " where render_id in (
                select old.render_id
                from accounts
                join plans on plans.name = accounts.plan
                cross join lateral (
                    select content.render_id
                    from renders join "
                + $table
                + " content on content.render_id = renders.id
                    where renders.account_id = accounts.id
                        and renders.inserted_at < $1::timestamptz - plans.retention_days * interval '1 day'
                        and renders.finished_at is not null
                    limit $2
                ) old
                limit $2
             )",
            $now,
            $at_most,
        );
        $crate::store::statement::count_changes($db, delete).await
    }};
}
pub(super) use delete_old_content;

/// As [`delete_old_content`], for ended renders of an account that were accepted up to `$before`.
macro_rules! delete_content_of_account {
    ($db:expr, $table:literal, $account:expr, $before:expr, $at_most:expr) => {{
        let delete = sqlx::query!(
            "delete from "
                + $table
                + " where render_id in (
                select content.render_id
                from "
                + $table
                + " content join renders on renders.id = content.render_id
                where content.account_id = $1 and renders.inserted_at <= $2 and renders.finished_at is not null
                limit $3
             )",
            $account.0,
            $before,
            $at_most,
        );
        $crate::store::statement::count_changes($db, delete).await
    }};
}
pub(super) use delete_content_of_account;
