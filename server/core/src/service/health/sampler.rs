//! Stores the state and figures of this process.

use std::{convert::Infallible, sync::Mutex, time::Duration};

use platen_domain::{
    health::{
        minute::{Recorder, Tally},
        state::{Activity, InstanceState, LaneState, SessionState, StorageState},
    },
    ids::AccountId,
};
use platen_engine::snapshot;
use time::OffsetDateTime;
use tokio::{
    sync,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use crate::{
    clock,
    mutex::lock,
    service::Services,
    store::{
        error::StoreError,
        health::{self, Identity},
        tx,
    },
};

/// Interval at which the state is stored.
pub const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Interval at which the default storage is tested.
const TRY_STORAGE_EVERY: Duration = Duration::from_secs(30);
/// Time after which the default storage counts as unavailable.
const STORAGE_PATIENCE: Duration = Duration::from_secs(5);
/// Timeout of the last report at shutdown.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Reports the state of this process.
pub struct Sampler {
    app: Services,
    identity: Identity,
    recorder: sync::Mutex<Recorder>,
    storage: Mutex<Option<StorageState>>,
}

impl Sampler {
    /// Creates a sampler for this process, which has no figures yet.
    pub fn new(app: Services, now: OffsetDateTime) -> Self {
        let host = rustix::system::uname();
        let identity = Identity {
            instance: app.instance,
            host: host.nodename().to_string_lossy().into_owned(),
            role: app.config.jobs.role.into_str(),
            version: env!("CARGO_PKG_VERSION"),
            started_at: now,
        };
        Self {
            app,
            identity,
            recorder: sync::Mutex::new(Recorder::begin(now)),
            storage: Mutex::default(),
        }
    }

    /// Stores the state every [`WRITE_EVERY`], and tests the default storage every 30 seconds.
    pub async fn run(&self) -> Infallible {
        tokio::select! {
            never = repeat(WRITE_EVERY, async || self.write_or_warn().await) => never,
            never = repeat(TRY_STORAGE_EVERY, async || self.try_storage().await) => never,
        }
    }

    /// Stores the state a last time, and removes the process from the list of running ones.
    pub async fn leave(&self) {
        let leaving = async {
            self.write_or_warn().await;
            if let Err(error) = health::delete(&self.app.db, self.identity.instance).await {
                tracing::warn!(%error, "this process could not be removed from the list of running processes");
            }
        };
        // Shutdown must not wait for an unavailable database.
        let _ = timeout(LAST_WORDS, leaving).await;
    }

    async fn write_or_warn(&self) {
        if let Err(error) = self.write(clock::now()).await {
            tracing::warn!(%error, "state of this process could not be stored");
        }
    }

    async fn write(&self, now: OffsetDateTime) -> Result<(), StoreError> {
        let mut recorder = self.recorder.lock().await;
        let (counted, state) = (counted(&self.app), self.state());
        let waiting: usize = state.lanes.iter().map(|lane| lane.waiting).sum();
        let minute = recorder.look(&counted, waiting as u64, now);
        let mut transaction = tx::begin_volatile(&self.app.db).await?;
        health::put(&mut transaction, &self.identity, &state).await?;
        health::put_minute(&mut transaction, self.identity.instance, &minute).await?;
        tx::commit(transaction).await?;
        recorder.written(counted);
        Ok(())
    }

    fn state(&self) -> InstanceState {
        let (status, seen) = (self.app.engine.status(), self.app.engine.snapshot());
        let (template_children, template_children_busy) = self.app.templates.children();
        let storage = lock(&self.storage);
        InstanceState {
            browsers: status.browsers,
            browsers_wanted: seen.browsers_wanted,
            browser_version: status.version,
            slots: status.slots,
            running: status.running,
            session_limit: seen.session_limit,
            sessions: seen.sessions.iter().map(session).collect(),
            queue_limit: seen.queue_limit,
            lanes: seen.lanes.iter().map(lane).collect(),
            template_children,
            template_children_busy,
            storage: storage.clone(),
        }
    }

    async fn try_storage(&self) {
        let began = Instant::now();
        let error = match timeout(STORAGE_PATIENCE, self.app.documents.try_out()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("no response within {} s", STORAGE_PATIENCE.as_secs())),
        };
        if let Some(error) = &error {
            tracing::warn!(error, "default storage failed");
        }
        let state = StorageState {
            milliseconds: milliseconds(began.elapsed()),
            error,
        };
        *lock(&self.storage) = Some(state);
    }
}

async fn repeat(every: Duration, work: impl AsyncFn()) -> Infallible {
    let mut next = interval(every);
    next.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        next.tick().await;
        work().await;
    }
}

/// Returns the figures of this process since its start.
fn counted(app: &Services) -> Tally {
    let replacements = app.engine.status().replacements;
    Tally {
        browsers_died: replacements.died,
        browsers_retired: replacements.retired,
        egress_refusals: app.guard.refusals(),
        ..app.metrics.tally()
    }
}

fn session(seen: &snapshot::SessionSnapshot) -> SessionState {
    SessionState {
        number: seen.number,
        activity: match seen.state {
            snapshot::SessionState::Opening => Activity::Opening,
            snapshot::SessionState::InUse => Activity::InUse,
            snapshot::SessionState::Idle => Activity::Idle,
        },
        // The page that is opened at start belongs to no account.
        account: seen.account.filter(|account| !account.is_nil()).map(AccountId),
        milliseconds: milliseconds(seen.lasting),
    }
}

fn lane(seen: &snapshot::LaneSnapshot) -> LaneState {
    LaneState {
        lane: seen.lane.to_string(),
        waiting: seen.waiting,
        accounts: seen.accounts,
        oldest_ms: seen.oldest.map_or(0, milliseconds),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
