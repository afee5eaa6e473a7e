//! This process, as others see it: it lives as long as it holds an advisory lock in Postgres, on a connection of its own.
//! What a process leaves behind when it crashes can be told by its lock, which goes with the connection.

use std::time::Duration;

use sqlx::PgPool;
use tokio::{task::JoinHandle, time::sleep};

use crate::{
    domain::ids::InstanceId,
    store::{error::StoreError, instances::Presence},
};

/// A lost connection is noticed this late.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Holds the lock while it exists.
pub struct Instance {
    /// Names the process.
    pub id: InstanceId,
    holder: JoinHandle<()>,
}

impl Instance {
    /// Takes the lock, and takes it again whenever the connection is lost.
    pub async fn announce(db: &PgPool) -> Result<Self, StoreError> {
        let id = InstanceId::generate();
        let presence = Presence::begin(db, id).await?;
        Ok(Self {
            id,
            holder: tokio::spawn(stay(db.clone(), id, presence)),
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.holder.abort();
    }
}

async fn stay(db: PgPool, id: InstanceId, mut presence: Presence) {
    loop {
        while presence.is_alive().await {
            sleep(LOOK_EVERY).await;
        }
        tracing::warn!("the connection that shows that this process lives is lost");
        presence = loop {
            match Presence::begin(&db, id).await {
                Ok(presence) => break presence,
                Err(_) => sleep(RETRY_AFTER).await,
            }
        };
    }
}
