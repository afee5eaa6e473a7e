//! Connections to Postgres, and its schema.

use std::time::Duration;

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, PgExecutor, PgPool,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};
use time::OffsetDateTime;

use crate::store::error::StoreError;

/// Migrations up to the schema of this build.
static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// A longer wait for a connection means that the database is overloaded or unreachable.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that has been idle for longer is tested before it is used, because the database may have restarted.
const TEST_AFTER: Duration = Duration::from_millis(500);

/// Settings of each session. Compiling a statement takes longer than any of them runs. Postgres finds out within half a minute, not
/// within hours, that a host is unreachable, even if a response is on its way there, and networks don't drop idle connections.
pub(super) const SESSION: &str = "set jit = off;
    set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4; set tcp_user_timeout = 30000";

/// Creates the pool. Fails if the first connection can't be established.
pub async fn connect(options: PgConnectOptions, connections: u32) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, use_of| {
            Box::pin(async move { Ok(use_of.idle_for < TEST_AFTER || connection.ping().await.is_ok()) })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                sqlx::raw_sql(SESSION).execute(connection).await?;
                Ok(())
            })
        })
        .connect_with(options.application_name("platen"))
        .await?;
    Ok(pool)
}

/// Migrates the schema to that of this build. Holds an advisory lock, so that several processes may start at once.
pub async fn migrate(db: &PgPool) -> Result<(), MigrateError> {
    MIGRATIONS.run(db).await
}

/// Checks that the database responds.
pub async fn ping(db: impl PgExecutor<'_>) -> Result<(), StoreError> {
    sqlx::query!("select 1 as one").fetch_one(db).await?;
    Ok(())
}

/// Version and clock of a database server.
#[derive(Debug)]
pub struct Server {
    /// For example `15.14 (Debian 15.14-0+deb12u1)`.
    pub version: String,
    pub time: OffsetDateTime,
}

/// Returns the server's version and clock.
pub async fn server(db: &PgPool) -> Result<Server, StoreError> {
    let server = sqlx::query_as!(
        Server,
        r#"select current_setting('server_version') as "version!", clock_timestamp() as "time!""#
    );
    Ok(server.fetch_one(db).await?)
}

/// Version and utilization of a database server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// For example `15.14 (Debian 15.14-0+deb12u1)`.
    pub version: String,
    /// Size of the database on disk, in bytes.
    pub size: i64,
    /// Client connections to all databases of the server.
    pub connections: i64,
    /// Maximum number of connections.
    pub connection_limit: i64,
}

/// Returns the server's version and utilization.
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

/// Creates a database unless it exists. `options` must name another database of the same server.
pub async fn ensure_database(options: &PgConnectOptions, name: &str) -> Result<(), StoreError> {
    let mut connection = PgConnection::connect_with(options).await?;
    let exists = sqlx::query_scalar!(
        r#"select exists (select from pg_database where datname = $1) as "exists!""#,
        name
    )
    .fetch_one(&mut connection)
    .await?;
    if !exists {
        // A name can't be a parameter here; the only caller passes a constant.
        let statement = format!("create database {name}");
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Returns whether a server accepts a connection with these options.
pub async fn accepts_connections(options: &PgConnectOptions) -> bool {
    match PgConnection::connect_with(options).await {
        Ok(connection) => connection.close().await.is_ok(),
        Err(_) => false,
    }
}
