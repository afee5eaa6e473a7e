//! Renders whose process has crashed: they are ended, so that they reserve no credit any more.

use std::collections::HashSet;

use serde_json::json;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::ids::InstanceId,
    store::{error::StoreError, instances, renders, tx},
};

/// Looks for them now and then.
pub struct Sweeper {
    own: InstanceId,
    /// Were gone when it last looked.
    suspects: HashSet<InstanceId>,
}

impl Sweeper {
    /// For the process `own`, whose renders are left alone.
    pub fn new(own: InstanceId) -> Self {
        Self {
            own,
            suspects: HashSet::new(),
        }
    }

    /// Ends the renders of processes that are gone and were gone at the last look too: one that has only lost its
    /// connection has a new one by then.
    pub async fn look(&mut self, db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
        let mut gone = HashSet::new();
        for instance in renders::list_instances(db, self.own).await? {
            let mut transaction = tx::begin(db).await?;
            if !instances::try_lock(&mut transaction, instance).await? {
                continue;
            }
            if self.suspects.contains(&instance) {
                let told = json!({"message": "the service stopped while it was rendered"});
                let ended = renders::fail_of_instance(&mut transaction, instance, told, now).await?;
                tx::commit(transaction).await?;
                tracing::warn!(%instance, renders = ended, "ended the renders of a process that is gone");
            } else {
                gone.insert(instance);
            }
        }
        self.suspects = gone;
        Ok(())
    }
}
