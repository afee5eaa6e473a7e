//! Table `connection_tests`: what came of the last test of each connection.

use std::collections::HashMap;

use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::ids::{AccountId, ConnectionId},
    store::error::StoreError,
};

/// A test as it is kept.
#[derive(Debug)]
pub struct KeptTest {
    /// When it ended.
    pub tested_at: OffsetDateTime,
    /// How long it took.
    pub milliseconds: i32,
    /// What was tried.
    pub steps: Value,
}

/// Keeps the last test of an account's connection; nothing, when the connection is gone.
pub async fn replace(
    db: &PgPool,
    account: AccountId,
    connection: ConnectionId,
    test: &KeptTest,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into connection_tests (connection_id, tested_at, milliseconds, steps)
         select id, $3, $4, $5 from connections where account_id = $1 and id = $2
         on conflict (connection_id) do update
             set tested_at = excluded.tested_at, milliseconds = excluded.milliseconds, steps = excluded.steps",
        account.0,
        connection.0,
        test.tested_at,
        test.milliseconds,
        test.steps,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The last tests of an account's connections.
pub async fn list(db: &PgPool, account: AccountId) -> Result<HashMap<ConnectionId, KeptTest>, StoreError> {
    let rows = sqlx::query!(
        "select connection_tests.connection_id, connection_tests.tested_at, connection_tests.milliseconds,
            connection_tests.steps
         from connection_tests join connections on connections.id = connection_tests.connection_id
         where connections.account_id = $1",
        account.0,
    )
    .fetch_all(db)
    .await?;
    let tests = rows.into_iter().map(|row| {
        let test = KeptTest {
            tested_at: row.tested_at,
            milliseconds: row.milliseconds,
            steps: row.steps,
        };
        (ConnectionId(row.connection_id), test)
    });
    Ok(tests.collect())
}
