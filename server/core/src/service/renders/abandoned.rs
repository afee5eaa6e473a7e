//! Cleanup after crashed processes: their synchronous renders are ended, which releases reserved credits, and their
//! jobs return to the queue.

use std::{collections::HashSet, sync::Arc};

use platen_domain::{health::failure_kind::FailureKind, ids::InstanceId, render::history::RenderMode};
use serde_json::json;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::metrics::{Metrics, outcome::Outcome},
    signals::Signals,
    store::{error::StoreError, instances, jobs, renders, tx},
};

/// Finds crashed processes. Called periodically.
pub struct Sweeper {
    own: InstanceId,
    /// Processes that were gone at the last sweep.
    suspects: HashSet<InstanceId>,
    metrics: Arc<Metrics>,
    signals: Signals,
}

impl Sweeper {
    /// Creates a sweeper that runs in the process `own`, and ignores its renders.
    pub fn new(own: InstanceId, metrics: Arc<Metrics>, signals: Signals) -> Self {
        Self {
            own,
            suspects: HashSet::new(),
            metrics,
            signals,
        }
    }

    /// Ends the renders and releases the jobs of processes that are gone and were gone at the last sweep too; one that
    /// only lost its connection has a new one by then. Also releases jobs whose lease has expired. Returns the number
    /// of released jobs.
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
                let error =
                    json!({"message": "the service stopped during the render", "code": FailureKind::Lost.into_str()});
                let ended = renders::fail_of_instance(&mut transaction, instance, error, now).await?;
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
                    "renders of a crashed process ended; its jobs released"
                );
            } else {
                gone.insert(instance);
            }
        }
        self.suspects = gone;
        let released = jobs::release_lost(db, None).await?;
        if released > 0 {
            tracing::warn!(jobs = released, "jobs with expired leases released");
        }
        Ok(released_in_all + released)
    }
}
