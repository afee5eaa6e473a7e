//! Connections to Postgres and the state of its schema.

use std::time::Duration;

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, PgPool,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};
use time::OffsetDateTime;

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

/// What a server says of itself.
#[derive(Debug)]
pub struct Server {
    /// For instance `15.14 (Debian 15.14-0+deb12u1)`.
    pub version: String,
    /// Its clock.
    pub time: OffsetDateTime,
}

/// Asks the server for its version and clock.
pub async fn server(db: &PgPool) -> Result<Server, StoreError> {
    let server = sqlx::query_as!(
        Server,
        r#"select current_setting('server_version') as "version!", clock_timestamp() as "time!""#
    );
    Ok(server.fetch_one(db).await?)
}

/// What a server is asked of the database under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// For instance `15.14 (Debian 15.14-0+deb12u1)`.
    pub version: String,
    /// Bytes on disk.
    pub size: i64,
    /// Connections of everybody to every database of the server.
    pub connections: i64,
    /// Connections that there can be.
    pub connection_limit: i64,
}

/// Asks the server how full it is.
pub async fn usage(db: &PgPool) -> Result<Usage, StoreError> {
    let usage = sqlx::query_as!(
        Usage,
        r#"select current_setting('server_version') as "version!",
               pg_database_size(current_database()) as "size!",
               (select count(*) from pg_stat_activity where backend_type = 'client backend') as "connections!",
               current_setting('max_connections')::bigint as "connection_limit!""#
    );
    Ok(usage.fetch_one(db).await?)
}

/// Makes a database unless it is there. `options` lead to another one of the same server.
pub async fn ensure_database(options: &PgConnectOptions, name: &str) -> Result<(), StoreError> {
    let mut connection = PgConnection::connect_with(options).await?;
    let exists = sqlx::query_scalar!(
        r#"select exists (select from pg_database where datname = $1) as "exists!""#,
        name
    )
    .fetch_one(&mut connection)
    .await?;
    if !exists {
        // A name can't be a parameter here; it is a constant of ours.
        let statement = format!("create database {name}");
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Whether a server answers, whatever it says.
pub async fn accepts_connections(options: &PgConnectOptions) -> bool {
    match PgConnection::connect_with(options).await {
        Ok(connection) => connection.close().await.is_ok(),
        Err(_) => false,
    }
}
