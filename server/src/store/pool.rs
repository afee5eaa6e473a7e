//! Connections to Postgres and the state of its schema.

use std::time::Duration;

use sqlx::{
    PgPool,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::store::error::StoreError;

/// The schema, as of this build.
static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// Longer waits for a connection mean that the database is overloaded or away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects; fails when the first connection does.
pub async fn connect(options: PgConnectOptions, connections: u32) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options.application_name("platen"))
        .await?;
    Ok(pool)
}

/// Brings the schema up to this build's. Holds an advisory lock, so that several processes may start at once.
pub async fn migrate(db: &PgPool) -> Result<(), MigrateError> {
    MIGRATIONS.run(db).await
}

/// Whether the database answers.
pub async fn ping(db: &PgPool) -> Result<(), StoreError> {
    sqlx::query!("select 1 as one").fetch_one(db).await?;
    Ok(())
}
