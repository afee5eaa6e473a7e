//! Advisory locks that show which processes are alive.

use platen_domain::ids::InstanceId;
use sqlx::{Connection, PgConnection, PgPool, postgres::PgConnectOptions};

use crate::store::{
    error::StoreError,
    pool::{SESSION, ping},
    statement::bounded,
};

/// Beginning of the names of connections that hold locks.
const DOCUMENTS: &str = "platen documents ";

/// A connection that holds the lock of a process.
pub struct Presence(PgConnection);

impl Presence {
    /// Connects, outside the pool, and acquires the lock. `documents` is the fingerprint of the place of the process's documents;
    /// `works` means that it does background work.
    pub async fn begin(db: &PgPool, instance: InstanceId, documents: &str, works: bool) -> Result<Self, StoreError> {
        let options = PgConnectOptions::clone(&db.connect_options()).application_name(&named(documents));
        let mut connection = PgConnection::connect_with(&options).await?;
        sqlx::raw_sql(SESSION).execute(&mut connection).await?;
        sqlx::query!("select pg_advisory_lock($1)", lock_key(instance))
            .execute(&mut connection)
            .await?;
        if works {
            sqlx::query!("select pg_advisory_lock_shared(hashtext('workers'), 0)")
                .execute(&mut connection)
                .await?;
        }
        Ok(Self(connection))
    }

    /// Returns whether the connection still responds.
    pub async fn is_alive(&mut self) -> bool {
        bounded(ping(&mut self.0)).await.is_ok()
    }
}

/// Counts the live processes of the service, with one that migrates the database or looks for dead ones for a moment more.
pub async fn count_live(db: &PgPool) -> Result<i64, StoreError> {
    // Locks with one key have the object subid 1.
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from pg_locks
           where locktype = 'advisory' and objsubid = 1 and granted
            and database = (select oid from pg_database where datname = current_database())"#
    );
    Ok(count.fetch_one(db).await?)
}

/// Counts the live processes that do background work.
pub async fn count_workers(db: &PgPool) -> Result<i64, StoreError> {
    // Locks with two keys have the object subid 2.
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from pg_locks
           where locktype = 'advisory' and objsubid = 2 and classid = hashtext('workers')::oid and granted
            and database = (select oid from pg_database where datname = current_database())"#
    );
    Ok(count.fetch_one(db).await?)
}

/// Counts the live processes whose documents are in another place than that with this fingerprint.
pub async fn count_with_other_documents(db: &PgPool, documents: &str) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from pg_stat_activity
           where datname = current_database() and starts_with(application_name, $1) and application_name <> $2"#,
        DOCUMENTS,
        named(documents),
    );
    Ok(count.fetch_one(db).await?)
}

/// Returns the name of the connection of a process.
fn named(documents: &str) -> String {
    format!("{DOCUMENTS}{documents}")
}

/// Acquires the lock of a dead process until the transaction ends. Returns `false` if the process is alive.
pub async fn try_lock(transaction: &mut PgConnection, instance: InstanceId) -> Result<bool, StoreError> {
    let locked = sqlx::query_scalar!(
        r#"select pg_try_advisory_xact_lock($1) as "locked!""#,
        lock_key(instance)
    );
    Ok(locked.fetch_one(transaction).await?)
}

/// Returns the random half of the id.
fn lock_key(instance: InstanceId) -> i64 {
    instance.0.as_u64_pair().1.cast_signed()
}
