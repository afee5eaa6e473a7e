//! Table `connection_tests`: the result of each storage connection's last test.

use std::collections::HashMap;

use platen_domain::{
    connection::ConnectionTest,
    ids::{AccountId, ConnectionId},
};
use serde_json::json;
use sqlx::{PgExecutor, PgPool};

use crate::store::{error::StoreError, statement::execute};

/// Stores the result of a connection's last test. Does nothing if the connection no longer exists.
pub async fn replace(
    db: impl PgExecutor<'_>,
    account: AccountId,
    connection: ConnectionId,
    test: &ConnectionTest,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into connection_tests (connection_id, tested_at, milliseconds, steps)
         select id, $3, $4, $5 from connections where account_id = $1 and id = $2
         on conflict (connection_id) do update
             set tested_at = excluded.tested_at, milliseconds = excluded.milliseconds, steps = excluded.steps",
        account.0,
        connection.0,
        test.tested_at,
        test.milliseconds,
        json!(test.steps),
    );
    execute(db, insert).await
}

/// Returns the last tests of an account's connections. Tests that another release stored in a form that this one can't
/// read are omitted.
pub async fn list(db: &PgPool, account: AccountId) -> Result<HashMap<ConnectionId, ConnectionTest>, StoreError> {
    let tests = sqlx::query!(
        "select connection_tests.connection_id, connection_tests.tested_at, connection_tests.milliseconds,
            connection_tests.steps
         from connection_tests join connections on connections.id = connection_tests.connection_id
         where connections.account_id = $1",
        account.0,
    )
    .map(|row| {
        let test = ConnectionTest {
            tested_at: row.tested_at,
            milliseconds: row.milliseconds,
            steps: serde_json::from_value(row.steps).ok()?,
        };
        Some((ConnectionId(row.connection_id), test))
    });
    Ok(tests.fetch_all(db).await?.into_iter().flatten().collect())
}
