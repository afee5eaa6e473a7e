//! The presence of this process: it counts as alive while it holds an advisory lock in Postgres, on a dedicated
//! connection. The lock is released with the connection, so other processes recognize what a crashed process left
//! behind.

use std::time::Duration;

use platen_domain::ids::InstanceId;
use sqlx::PgPool;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::store::{error::StoreError, instances::Presence};

/// How often the connection is checked.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// Longer than Postgres holds the lock of a connection that was lost.
const LONGEST_BEGIN: Duration = Duration::from_mins(1);

/// Holds the lock until it is dropped.
pub struct Instance {
    pub id: InstanceId,
    holder: JoinHandle<()>,
}

impl Instance {
    /// Acquires the lock, and reacquires it whenever the connection is lost.
    /// `documents` is the fingerprint of the place of the process's documents; `works` means that it does background work.
    pub async fn announce(db: &PgPool, documents: String, works: bool) -> Result<Self, StoreError> {
        let id = InstanceId::generate();
        let presence = Presence::begin(db, id, &documents, works).await?;
        Ok(Self {
            id,
            holder: tokio::spawn(stay(db.clone(), id, documents, works, presence)),
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.holder.abort();
    }
}

async fn stay(db: PgPool, id: InstanceId, documents: String, works: bool, mut presence: Presence) {
    loop {
        while presence.is_alive().await {
            sleep(LOOK_EVERY).await;
        }
        tracing::warn!("connection that holds this process's advisory lock was lost");
        // Only late, it may still hold the lock.
        drop(presence);
        presence = loop {
            match timeout(LONGEST_BEGIN, Presence::begin(&db, id, &documents, works)).await {
                Ok(Ok(presence)) => break presence,
                Ok(Err(_)) => sleep(RETRY_AFTER).await,
                Err(_) => {}
            }
        };
    }
}
