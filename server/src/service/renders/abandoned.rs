//! What processes leave behind that crash: renders that somebody waited for are ended, so that they reserve no credit any
//! more; background work goes back to the queue.

use std::{collections::HashSet, sync::Arc};

use serde_json::json;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{health::failure_kind::FailureKind, ids::InstanceId, render::history::RenderMode},
    jobs::signals::Signals,
    service::metrics::{Metrics, outcome::Outcome},
    store::{error::StoreError, instances, jobs, renders, tx},
};

/// Looks for them now and then.
pub struct Sweeper {
    own: InstanceId,
    /// Were gone when it last looked.
    suspects: HashSet<InstanceId>,
    metrics: Arc<Metrics>,
    signals: Signals,
}

impl Sweeper {
    /// For the process `own`, whose renders are left alone.
    pub fn new(own: InstanceId, metrics: Arc<Metrics>, signals: Signals) -> Self {
        Self {
            own,
            suspects: HashSet::new(),
            metrics,
            signals,
        }
    }

    /// Ends the renders and takes back the jobs of processes that are gone and were gone at the last look too: one that
    /// has only lost its connection has a new one by then. Takes back what is held beyond its lease as well. Says how many jobs are in the
    /// queue again.
    pub async fn look(&mut self, db: &PgPool, now: OffsetDateTime) -> Result<i64, StoreError> {
        let (mut gone, mut released_in_all) = (HashSet::new(), 0);
        let mut instances = renders::list_instances(db, self.own).await?;
        instances.extend(jobs::list_instances(db, self.own).await?);
        instances.sort_unstable();
        instances.dedup();
        for instance in instances {
            let mut transaction = tx::begin(db).await?;
            if !instances::try_lock(&mut transaction, instance).await? {
                continue;
            }
            if self.suspects.contains(&instance) {
                let told = json!({"message": "the service stopped while it was rendered"});
                let ended = renders::fail_of_instance(&mut transaction, instance, told, now).await?;
                let released = jobs::release_lost(&mut *transaction, Some(instance)).await?;
                tx::commit(transaction).await?;
                let count = ended.len();
                self.metrics
                    .renders_ended(RenderMode::Sync, Outcome::Failed(FailureKind::Lost), count as u64);
                for (account, render) in ended {
                    self.signals.changed(account, render);
                }
                released_in_all += released;
                tracing::warn!(
                    %instance,
                    renders = count,
                    jobs = released,
                    "ended the renders of a process that is gone, and took back its jobs"
                );
            } else {
                gone.insert(instance);
            }
        }
        self.suspects = gone;
        let released = jobs::release_lost(db, None).await?;
        if released > 0 {
            tracing::warn!(jobs = released, "took back jobs that were held beyond their leases");
        }
        Ok(released_in_all + released)
    }
}
