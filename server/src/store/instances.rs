//! Advisory locks by which processes show that they live.

use sqlx::{Connection, PgConnection, PgPool};

use crate::{domain::ids::InstanceId, store::error::StoreError};

/// A connection that holds a process's lock.
pub struct Presence(PgConnection);

impl Presence {
    /// Connects, outside of the pool, and takes the lock.
    pub async fn begin(db: &PgPool, instance: InstanceId) -> Result<Self, StoreError> {
        let mut connection = PgConnection::connect_with(&db.connect_options()).await?;
        // A machine that falls silent is given up within half a minute, not within hours.
        sqlx::raw_sql("set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4")
            .execute(&mut connection)
            .await?;
        sqlx::query!("select pg_advisory_lock($1)", lock_key(instance))
            .execute(&mut connection)
            .await?;
        Ok(Self(connection))
    }

    /// Whether the connection still answers.
    pub async fn is_alive(&mut self) -> bool {
        self.0.ping().await.is_ok()
    }
}

/// Takes the lock of a process that is gone, until the transaction ends. `false`: the process lives.
pub async fn try_lock(transaction: &mut PgConnection, instance: InstanceId) -> Result<bool, StoreError> {
    let locked = sqlx::query_scalar!(
        r#"select pg_try_advisory_xact_lock($1) as "locked!""#,
        lock_key(instance)
    );
    Ok(locked.fetch_one(transaction).await?)
}

/// The random half of the identifier.
fn lock_key(instance: InstanceId) -> i64 {
    instance.0.as_u64_pair().1.cast_signed()
}
