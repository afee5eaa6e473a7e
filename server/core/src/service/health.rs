//! Health of the service across all processes: what each of them stored (`sampler`), what is queued, and the resulting
//! concerns. Reads only the database.

pub mod sampler;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration as Span,
};

use platen_domain::{
    health::{
        concern::{self, Concern, Facts, concerns},
        minute::{Minute, Tally, beginning_of_minute},
        process::{HealthSummary, HeardOf, Process},
    },
    ids::{AccountId, InstanceId},
    job::QueueLength,
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;

use crate::{
    service::{Services, mail::Delivery},
    store::{
        accounts,
        error::StoreError,
        exports,
        health::{self, Summary},
        jobs,
        mails::{self, WaitingMails},
        pool, stripe_events,
    },
};

/// Minutes that are shown individually.
const MINUTES: i64 = 60;
/// Retention of the figures per minute.
const KEPT: Duration = Duration::days(7);
/// Seconds after which a silent process is deleted from the list.
const FORGOTTEN_AFTER: f64 = 3600.0;
/// Time for which differences with Stripe are reported.
const STRIPE_SINCE: Duration = Duration::days(7);

/// Health of all processes.
pub struct Health {
    /// All processes, including silent ones.
    pub processes: Vec<Process>,
    /// Concerns about all processes, regardless of `only`.
    pub concerns: Vec<Concern>,
    /// Each minute of the last hour, the earliest first. The last one is incomplete.
    pub minutes: Vec<Minute>,
    /// Summary of the last 24 hours.
    pub day: Summary,
    /// Queued jobs, by kind.
    pub jobs: Vec<QueueLength>,
    /// Unsent mails.
    pub mails: WaitingMails,
    /// Whether a mail server is configured.
    pub mail_is_sent: bool,
    /// Number of queued exports.
    pub exports: i64,
    /// Use of the database's connections.
    pub database: pool::Usage,
    /// Response time of the database.
    pub database_time: Span,
    /// Events and differences of Stripe; `None` if nothing is for sale.
    pub stripe: Option<stripe_events::Status>,
    /// Names of the accounts that own sessions.
    pub accounts: HashMap<AccountId, String>,
    /// The process to which the figures are limited; `None` if they cover all.
    pub only: Option<InstanceId>,
}

impl Health {
    /// Returns the processes that aren't silent.
    pub fn awake(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| !process.is_silent())
    }

    /// Returns the awake processes that the figures cover.
    pub fn shown(&self) -> impl Iterator<Item = &Process> {
        let is_shown = |process: &&Process| self.only.is_none_or(|only| process.heard.instance == only);
        self.awake().filter(is_shown)
    }
}

/// Returns the health of the service. `only` limits the figures to one process; it is ignored if there is no such
/// process.
pub async fn look(
    db: &PgPool,
    waiting: &Waiting,
    only: Option<InstanceId>,
    now: OffsetDateTime,
) -> Result<Health, StoreError> {
    let from = beginning_of_minute(now) - Duration::minutes(MINUTES - 1);
    let processes = named(health::list(db).await?);
    let only = only.filter(|only| processes.iter().any(|process| process.heard.instance == *only));
    let rows = health::minutes(db, from).await?;
    let facts = facts(&processes, &rows, waiting);
    let sessions = processes.iter().flat_map(|process| &process.heard.state.sessions);
    let owners: BTreeSet<_> = sessions.filter_map(|session| session.account).collect();
    let called = accounts::list_called(db, &owners.into_iter().collect::<Vec<_>>()).await?;
    let shown = rows
        .into_iter()
        .filter(|(instance, _)| only.is_none_or(|only| only == *instance));
    Ok(Health {
        concerns: concerns(&facts),
        minutes: summed(shown.map(|(_, minute)| minute), from),
        day: health::summary(db, now - Duration::DAY, only).await?,
        processes,
        jobs: waiting.jobs.clone(),
        mails: waiting.mails,
        mail_is_sent: waiting.mail_is_sent,
        exports: exports::count_waiting(db).await?,
        database: waiting.database.clone(),
        database_time: waiting.database_time,
        stripe: waiting.stripe,
        accounts: called.into_iter().collect(),
        only,
    })
}

/// Returns a summary, for the footer of the operators' pages.
pub async fn glance(db: &PgPool, waiting: &Waiting, now: OffsetDateTime) -> Result<HealthSummary, StoreError> {
    let processes = named(health::list(db).await?);
    let rows = health::minutes(db, now - Duration::minutes(MINUTES)).await?;
    let does = |other: &str| {
        let awake = processes.iter().filter(|process| !process.is_silent());
        awake.filter(|process| process.heard.role != other).count()
    };
    Ok(HealthSummary {
        concerns: concerns(&facts(&processes, &rows, waiting)).len(),
        web: does("worker"),
        workers: does("web"),
    })
}

/// Deletes figures and silent processes past their retention.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    health::purge(db, now - KEPT, FORGOTTEN_AFTER).await
}

/// Measurements of the database, its queues and Stripe's events.
pub struct Waiting {
    jobs: Vec<QueueLength>,
    mails: WaitingMails,
    mail_is_sent: bool,
    database: pool::Usage,
    database_time: Span,
    stripe: Option<stripe_events::Status>,
}

impl Waiting {
    /// Takes the measurements.
    pub async fn measure(app: &Services, now: OffsetDateTime) -> Result<Self, StoreError> {
        let began = Instant::now();
        pool::ping(&app.db).await?;
        let database_time = began.elapsed();
        Ok(Self {
            jobs: jobs::measure(&app.db).await?,
            mails: mails::measure(&app.db).await?,
            mail_is_sent: matches!(app.mailing.delivery, Delivery::Smtp(_)),
            database: pool::usage(&app.db).await?,
            database_time,
            stripe: match app.billing.till {
                Some(_) => Some(stripe_events::measure(&app.db, now - STRIPE_SINCE).await?),
                None => None,
            },
        })
    }
}

/// Names processes after their machines.
fn named(heard: Vec<HeardOf>) -> Vec<Process> {
    let mut on_host: HashMap<String, usize> = HashMap::new();
    for process in &heard {
        *on_host.entry(process.host.clone()).or_default() += 1;
    }
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let processes = heard.into_iter().map(|heard| {
        let number = numbers.entry(heard.host.clone()).or_default();
        *number += 1;
        let name = match on_host.get(&heard.host) {
            Some(2..) => format!("{}-{number}", heard.host),
            _ => heard.host.clone(),
        };
        Process { name, heard }
    });
    processes.collect()
}

fn facts(processes: &[Process], rows: &[(InstanceId, Minute)], waiting: &Waiting) -> Facts {
    let processes = processes.iter().map(|process| {
        let own = rows.iter().filter(|(instance, _)| *instance == process.heard.instance);
        concern::Process {
            name: process.name.clone(),
            version: process.heard.version.clone(),
            unseen_seconds: process.heard.unseen_seconds,
            browsers_died: own.map(|(_, minute)| minute.tally.browsers_died).sum(),
            state: process.heard.state.clone(),
        }
    });
    let oldest_jobs = waiting
        .jobs
        .iter()
        .map(|length| (length.kind, length.oldest_due_seconds));
    Facts {
        processes: processes.collect(),
        oldest_jobs: oldest_jobs.collect(),
        oldest_mail: waiting.mail_is_sent.then_some(waiting.mails.oldest_seconds),
        connections: (waiting.database.connections, waiting.database.connection_limit),
        stripe_differences: waiting.stripe.map_or(0, |status| status.differences),
    }
}

/// Returns each minute since `from`, summed over processes.
fn summed(rows: impl Iterator<Item = Minute>, from: OffsetDateTime) -> Vec<Minute> {
    let empty = (0..MINUTES).map(|number| {
        let minute = from + Duration::minutes(number);
        let nothing = Minute {
            minute,
            tally: Tally::default(),
            peak_waiting: 0,
        };
        (minute, nothing)
    });
    let mut minutes: BTreeMap<_, _> = empty.collect();
    for row in rows {
        // A process whose clock is ahead may report a later minute.
        if let Some(minute) = minutes.get_mut(&row.minute) {
            minute.tally.add(&row.tally);
            minute.peak_waiting += row.peak_waiting;
        }
    }
    minutes.into_values().collect()
}
