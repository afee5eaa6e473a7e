//! Claims jobs of one kind and runs a bounded number of them concurrently.

use std::{collections::HashMap, time::Duration};

use platen_domain::{ids::AccountId, job::JobKind};
use tokio::{
    task::{Id, JoinSet},
    time::{Instant, MissedTickBehavior, interval, interval_at, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    clock,
    jobs::execute,
    lifecycle::Lifecycle,
    service::Services,
    store::{
        error::StoreError,
        instances,
        jobs::{self, ClaimRequest, ClaimedJob, Share},
        statement::bounded,
        tx,
    },
};

/// Polling interval, because jobs become due and notifications can be lost.
const CLAIM_EVERY: Duration = Duration::from_secs(1);
/// Free places that are worth a claim while other jobs run: a claim costs the database as much as recording an outcome.
const CLAIM_AT_LEAST: usize = 2;
/// Fraction of all places (one eighth) that must be free for a claim soon after another, if jobs were added: single renders should not
/// wait long.
const FREE_FOR_ADDED: usize = 8;
/// The same (one third) if only places became free.
const FREE_FOR_LEFT: usize = 3;
/// Time between claims while jobs run, in which further ones become due, if many places are free and if few are.
const BETWEEN_CLAIMS: Duration = Duration::from_millis(20);
const BETWEEN_SMALL_CLAIMS: Duration = Duration::from_millis(200);
/// Well below the duration of leases.
const RENEW_EVERY: Duration = Duration::from_secs(15);

/// Runs the jobs of one kind.
pub(super) struct Worker<'a> {
    pub(super) app: &'a Services,
    pub(super) lifecycle: &'a Lifecycle,
    pub(super) kind: JobKind,
    /// Returns how many jobs it may hold at present.
    pub(super) at_once: &'a (dyn Fn() -> usize + Sync),
    /// See [`ClaimRequest::cap`].
    pub(super) cap: Option<usize>,
    /// Returns [`Share::at_least`], if workers share the limits of accounts.
    pub(super) shared: Option<&'a (dyn Fn() -> usize + Sync)>,
}

/// Why there may be jobs to claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Jobs were added or became due.
    Added,
    /// Places became free, and jobs were left.
    Freed,
}

/// The jobs that a worker is running.
#[derive(Default)]
struct InHand {
    tasks: JoinSet<()>,
    jobs: HashMap<Id, Running>,
}

struct Running {
    job: ClaimedJob,
    stop: CancellationToken,
    /// Whether the last renewal has not found the claim. The job may just have been completed.
    is_missing: bool,
}

impl Worker<'_> {
    /// Runs until the service stops and all claimed jobs have ended.
    pub(super) async fn run(&self) {
        let mut in_hand = InHand::default();
        let mut after = AccountId(Uuid::nil());
        let mut workers = 1;
        self.count_workers(&mut workers).await;
        let mut renewal = interval_at(Instant::now() + RENEW_EVERY, RENEW_EVERY);
        let mut claiming = interval(CLAIM_EVERY);
        claiming.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut occasion = Some(Occasion::Added);
        let mut claimed_at = Instant::now();
        while !self.lifecycle.is_stopping() {
            let places = (self.at_once)();
            let free = places.saturating_sub(in_hand.jobs.len());
            let claim_at = occasion.and_then(|occasion| next_claim(occasion, free, places, claimed_at));
            if claim_at.is_some_and(|time| time <= Instant::now()) {
                let claimed = bounded(self.claim(free, workers, &mut after))
                    .await
                    .unwrap_or_else(|error| {
                        tracing::warn!(%error, "no jobs could be claimed");
                        Vec::new()
                    });
                // Fewer than were wanted: there are no others.
                occasion = (claimed.len() == free).then_some(Occasion::Freed);
                claimed_at = Instant::now();
                for job in claimed {
                    self.start(job, &mut in_hand);
                }
                continue;
            }
            tokio::select! {
                () = self.app.jobs.woken(self.kind), if occasion != Some(Occasion::Added) => occasion = Some(Occasion::Added),
                () = sleep_until(claim_at.unwrap_or(claimed_at)), if claim_at.is_some() => {}
                Some(ended) = in_hand.tasks.join_next_with_id() => {
                    self.ended(ended, &mut in_hand);
                    // An account that had as many as it may can have another one.
                    occasion = occasion.or(Some(Occasion::Freed));
                }
                _ = claiming.tick() => {
                    tokio::join!(self.mark_due(), self.count_workers(&mut workers));
                    occasion = Some(Occasion::Added);
                }
                _ = renewal.tick() => self.renew(&mut in_hand).await,
                () = self.lifecycle.stopping() => {}
            }
        }
        loop {
            tokio::select! {
                ended = in_hand.tasks.join_next_with_id() => match ended {
                    Some(ended) => self.ended(ended, &mut in_hand),
                    None => break,
                },
                _ = renewal.tick() => self.renew(&mut in_hand).await,
            }
        }
    }

    /// Claims at most `jobs` jobs as one of `workers` processes. `after` is the account whose turn was last.
    async fn claim(&self, jobs: usize, workers: i64, after: &mut AccountId) -> Result<Vec<ClaimedJob>, StoreError> {
        let request = ClaimRequest {
            kind: self.kind,
            jobs,
            after: *after,
            cap: self.cap,
            share: self.shared.map(|at_least| Share {
                workers,
                at_least: at_least(),
            }),
        };
        let now = clock::now();
        // A claim that is lost in a crash of the database counts as never made.
        let mut transaction = tx::begin_volatile(&self.app.db).await?;
        let claimed = jobs::claim(&mut transaction, self.app.instance, request, now).await?;
        tx::commit(transaction).await?;
        for job in &claimed {
            let ClaimedJob::Render(job) = job else { continue };
            self.app.jobs.changed(job.account, job.render);
            if let Some(accepted_at) = job.accepted_at {
                // The clock of the accepting process may be slightly ahead.
                let delay = Duration::try_from(now - accepted_at).unwrap_or_default();
                self.app.metrics.render_begun(delay);
            }
        }
        let last = claimed.last().and_then(ClaimedJob::account);
        *after = last.unwrap_or(AccountId(Uuid::nil()));
        Ok(claimed)
    }

    async fn mark_due(&self) {
        if let Err(error) = bounded(jobs::mark_due(&self.app.db, self.kind)).await {
            tracing::warn!(%error, "jobs could not be marked as due");
        }
    }

    /// Keeps the last count if the database doesn't respond.
    async fn count_workers(&self, workers: &mut i64) {
        if self.shared.is_none() {
            return;
        }
        match bounded(instances::count_workers(&self.app.db)).await {
            // Its own lock may just have been lost.
            Ok(count) => *workers = count.max(1),
            Err(error) => tracing::warn!(%error, "workers could not be counted"),
        }
    }

    fn start(&self, job: ClaimedJob, in_hand: &mut InHand) {
        let (app, lifecycle, kind) = (self.app.clone(), self.lifecycle.clone(), self.kind);
        let stop = match &job {
            ClaimedJob::Render(job) => app.jobs.begin(job.account, job.render),
            _ => CancellationToken::new(),
        };
        let span = tracing::info_span!(
            "job",
            otel.name = format!("job {}", kind.into_str()),
            kind = kind.into_str(),
            account_id = job.account().map(display),
            render_id = job.render().map(display),
        );
        let (stopped, claimed) = (stop.clone(), job.clone());
        let work = async move {
            tokio::select! {
                () = execute(&app, &lifecycle, kind, &claimed) => {}
                () = stopped.cancelled() => tracing::info!("job stopped: it was cancelled, or another worker holds it"),
            }
        };
        let id = in_hand.tasks.spawn(work.instrument(span)).id();
        let running = Running {
            job,
            stop,
            is_missing: false,
        };
        in_hand.jobs.insert(id, running);
    }

    fn ended(&self, ended: Result<(Id, ()), tokio::task::JoinError>, in_hand: &mut InHand) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(panic) => {
                tracing::error!(%panic, "a job panicked");
                panic.id()
            }
        };
        if let Some(ClaimedJob::Render(job)) = in_hand.jobs.remove(&id).map(|running| running.job) {
            self.app.jobs.done(job.render);
        }
    }

    /// Renews the leases of running jobs, and stops jobs whose lease was lost before the previous renewal.
    async fn renew(&self, in_hand: &mut InHand) {
        let claims: Vec<_> = in_hand.jobs.values().map(|running| running.job.claim().id).collect();
        if claims.is_empty() {
            return;
        }
        match bounded(jobs::renew(&self.app.db, self.app.instance, &claims)).await {
            Ok(held) => {
                for running in in_hand.jobs.values_mut() {
                    let was_missing = running.is_missing;
                    running.is_missing = !held.contains(&running.job.claim().id);
                    if was_missing && running.is_missing {
                        running.stop.cancel();
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "leases of jobs could not be renewed"),
        }
    }
}

/// Returns when the next jobs may be claimed; `None` as long as too few of the places are free.
fn next_claim(occasion: Occasion, free: usize, places: usize, claimed_at: Instant) -> Option<Instant> {
    if free == places {
        return Some(claimed_at);
    }
    let worth = match occasion {
        Occasion::Added => places / FREE_FOR_ADDED,
        Occasion::Freed => places / FREE_FOR_LEFT,
    };
    let between = if free >= worth {
        BETWEEN_CLAIMS
    } else {
        BETWEEN_SMALL_CLAIMS
    };
    (free >= CLAIM_AT_LEAST).then_some(claimed_at + between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_jobs_are_claimed_sooner_than_those_that_were_left() {
        let claimed_at = Instant::now();
        for (occasion, free, after) in [
            (Occasion::Added, 3, Some(BETWEEN_CLAIMS)),
            (Occasion::Added, 2, Some(BETWEEN_SMALL_CLAIMS)),
            (Occasion::Freed, 8, Some(BETWEEN_CLAIMS)),
            (Occasion::Freed, 7, Some(BETWEEN_SMALL_CLAIMS)),
            (Occasion::Added, 1, None),
            // Nothing else runs.
            (Occasion::Freed, 24, Some(Duration::ZERO)),
        ] {
            let expected = after.map(|after| claimed_at + after);
            assert_eq!(
                next_claim(occasion, free, 24, claimed_at),
                expected,
                "{occasion:?} {free}"
            );
        }
    }
}
