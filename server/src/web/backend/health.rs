//! Health of the service, with the texts of the operator page.

mod parts;

use platen_app::{
    error::AppError,
    model::admin::health::{Activity, Figures, Health, Lane, Minute, Phase, Session},
};
use platen_core::{
    clock,
    service::health::{self as service, Health as Found, Waiting},
    store::error::StoreError,
};
use platen_domain::{
    health::{
        histogram::Histogram,
        minute::{Tally, WHOLE},
        process::HealthSummary,
        state,
    },
    ids::InstanceId,
    render::history::RenderMode,
};
use time::OffsetDateTime;

use super::RequestBackend;

/// Minutes that are combined where a single one has too few samples.
const NOW: usize = 5;
const MODES: [&str; 2] = ["sync", "async"];
/// Names of the phases in the health data, and their labels.
const PHASES: [(&str, &str); 7] = [
    ("queue", "Waiting for a slot"),
    ("load", "Loading"),
    ("evaluate", "Evaluating"),
    ("wait", "Waiting for the page"),
    ("print", "Printing"),
    ("post", "Completing the PDF"),
    (WHOLE, "Whole document"),
];

impl RequestBackend {
    /// Returns the health of all parts, with the activity of all processes or of one.
    pub(super) async fn health_page(&self, only: Option<InstanceId>) -> Result<Health, AppError> {
        let now = clock::now();
        let found = async { service::look(&self.app.db, self.waiting().await?, only, now).await };
        Ok(shown(self.answer(found.await)?, now))
    }

    async fn waiting(&self) -> Result<&Waiting, StoreError> {
        let measure = || Waiting::measure(&self.app, clock::now());
        self.waiting.get_or_try_init(measure).await
    }

    /// Returns the summary for the foot of the rail, or `None` after an error, which must not fail pages on other
    /// subjects.
    pub(super) async fn health_summary(&self) -> Option<HealthSummary> {
        let glance = async { service::glance(&self.app.db, self.waiting().await?, clock::now()).await };
        let glance = glance
            .await
            .inspect_err(|error| tracing::error!(%error, "the health summary could not be read"));
        glance.ok()
    }
}

fn shown(found: Found, now: OffsetDateTime) -> Health {
    let mut hour = Tally::default();
    for minute in &found.minutes {
        hour.add(&minute.tally);
    }
    let minutes = found.minutes.iter().map(|minute| Minute {
        from: minute.minute,
        succeeded: number(minute.tally.succeeded),
        failed: number(minute.tally.failed + minute.tally.cancelled),
        peak_waiting: number(minute.peak_waiting),
    });
    Health {
        now,
        minutes: minutes.collect(),
        figures: figures(&found, &hour, now),
        lanes: lanes(&found),
        sessions: sessions(&found),
        phases: phases(&hour),
        parts: parts::parts(&found),
        failures: hour.detail.failures,
        concerns: found.concerns,
        processes: found.processes,
        only: found.only,
        jobs: found.jobs,
    }
}

fn figures(found: &Found, hour: &Tally, now: OffsetDateTime) -> Figures {
    let states = || found.shown().map(|process| &process.heard.state);
    let sessions = || states().flat_map(|state| &state.sessions);
    let in_use = |session: &&state::SessionState| session.activity == state::Activity::InUse;
    let is_free =
        |session: &&state::SessionState| session.activity == state::Activity::Idle && session.account.is_none();
    let mut recent = Tally::default();
    let first = found.minutes.len().saturating_sub(NOW);
    for minute in &found.minutes[first..] {
        recent.add(&minute.tally);
    }
    Figures {
        per_second: per_second(found, now),
        last_hour: number(hour.ended()),
        peak: found.day.peak_at.map(|at| (found.day.peak as f64 / 60.0, at)),
        percentile_95_ms: milliseconds(&recent.detail.phase(&[RenderMode::Sync.into_str()], WHOLE), 0.95),
        sessions_in_use: sessions().filter(in_use).count(),
        session_limit: states().map(|state| state.session_limit).sum(),
        sessions_free: sessions().filter(is_free).count(),
        browsers_died: found.day.browsers_died,
        browsers_retired: found.day.browsers_retired,
        refusals_of_hour: number(hour.egress_refusals),
    }
}

/// Returns the renders per second over the last 60 seconds: those of this minute, and a proportional share of the one
/// before.
fn per_second(found: &Found, now: OffsetDateTime) -> f64 {
    let ended = |back: usize| {
        let minute = found.minutes.iter().rev().nth(back);
        minute.map_or(0.0, |minute| minute.tally.ended() as f64)
    };
    let missing = 1.0 - f64::from(now.second()) / 60.0;
    (ended(0) + ended(1) * missing) / 60.0
}

fn lanes(found: &Found) -> Vec<Lane> {
    let states: Vec<_> = found.shown().map(|process| &process.heard.state).collect();
    let limit = states.iter().map(|state| state.queue_limit).sum();
    let named = [
        ("preview", "Previews"),
        ("synchronous", "Synchronous"),
        ("background", "Background"),
    ];
    let lanes = named.map(|(word, name)| {
        let own = || {
            let lanes = states.iter().flat_map(|state| &state.lanes);
            lanes.filter(move |lane| lane.lane == word)
        };
        let waiting = own().map(|lane| lane.waiting).sum();
        Lane {
            name,
            waiting,
            limit,
            accounts: own().map(|lane| lane.accounts).max().unwrap_or_default(),
            oldest_ms: own().map(|lane| lane.oldest_ms).max().filter(|_| waiting > 0),
        }
    });
    lanes.into()
}

fn sessions(found: &Found) -> Vec<Session> {
    let several = found.shown().nth(1).is_some();
    let sessions = found.shown().flat_map(|process| {
        process.heard.state.sessions.iter().map(move |session| {
            let number = format!("{:02}", session.number);
            let name = if several {
                format!("{} {number}", process.name)
            } else {
                number
            };
            let account = session.account.map(|account| {
                let name = found.accounts.get(&account).filter(|name| !name.is_empty()).cloned();
                (
                    account.to_string(),
                    name.unwrap_or_else(|| "deleted account".to_owned()),
                )
            });
            Session {
                name,
                activity: match session.activity {
                    state::Activity::Opening => Activity::Opening,
                    state::Activity::InUse => Activity::Rendering,
                    state::Activity::Idle | state::Activity::Unknown if account.is_some() => Activity::Idle,
                    state::Activity::Idle | state::Activity::Unknown => Activity::Free,
                },
                account,
                seconds: session.milliseconds / 1000,
            }
        })
    });
    sessions.collect()
}

fn phases(hour: &Tally) -> Vec<Phase> {
    let phases = PHASES.into_iter().filter_map(|(word, name)| {
        let histogram = hour.detail.phase(&MODES, word);
        Some(Phase {
            name,
            median_ms: milliseconds(&histogram, 0.5)?,
            percentile_95_ms: milliseconds(&histogram, 0.95)?,
        })
    });
    phases.collect()
}

fn milliseconds(histogram: &Histogram, share: f64) -> Option<f64> {
    histogram
        .quantile(share)
        .map(|duration| duration.as_secs_f64() * 1000.0)
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
