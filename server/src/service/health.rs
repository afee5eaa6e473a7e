//! How the service is, over all processes: what each wrote down of itself (`sampler`), what waits, and what of that should
//! worry the operator. Nothing but the database is asked.

pub mod sampler;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration as Span,
};

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;

use crate::{
    domain::{
        health::{
            concern::{self, Concern, Facts, SILENT_AFTER, concerns},
            minute::{Minute, Tally, beginning_of_minute},
        },
        ids::{AccountId, InstanceId},
    },
    service::mail::Delivery,
    state::AppState,
    store::{
        accounts,
        error::StoreError,
        exports,
        health::{self, HeardOf, Summary},
        jobs::{self, QueueLength},
        mails::{self, WaitingMails},
        pool, stripe_events,
    },
};

/// Minutes that are shown one by one.
const MINUTES: i64 = 60;
/// What processes did is kept for so long.
const KEPT: Duration = Duration::days(7);
/// Seconds after which a silent process is forgotten.
const FORGOTTEN_AFTER: f64 = 3600.0;
/// Stripe's differences of this time are told of.
const STRIPE_SINCE: Duration = Duration::days(7);

/// See the module.
pub struct Health {
    /// Every process, also those that are silent.
    pub processes: Vec<Process>,
    /// Of all processes, whatever is shown of them.
    pub concerns: Vec<Concern>,
    /// The last hour: every minute of it, the oldest first. The last one is not over yet.
    pub minutes: Vec<Minute>,
    /// The last 24 hours.
    pub day: Summary,
    /// Jobs that wait.
    pub jobs: Vec<QueueLength>,
    /// Mails that wait.
    pub mails: WaitingMails,
    /// Whether they are sent at all.
    pub mail_is_sent: bool,
    /// Archives that wait to be made.
    pub exports: i64,
    /// The database.
    pub database: pool::Usage,
    /// How long it takes to answer.
    pub database_time: Span,
    /// Stripe, if anything is for sale.
    pub stripe: Option<stripe_events::Told>,
    /// What the accounts are called that have sessions.
    pub accounts: HashMap<AccountId, String>,
    /// The process whose doings these are, if they are not of all.
    pub only: Option<InstanceId>,
}

impl Health {
    /// The processes that have been heard of lately.
    pub fn awake(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| !process.is_silent())
    }

    /// Those of them whose doings are shown.
    pub fn shown(&self) -> impl Iterator<Item = &Process> {
        let is_shown = |process: &&Process| self.only.is_none_or(|only| process.heard.instance == only);
        self.awake().filter(is_shown)
    }
}

/// A process.
pub struct Process {
    /// What it is called: by its machine, and by a number where several are on one.
    pub name: String,
    /// What it wrote last.
    pub heard: HeardOf,
}

impl Process {
    /// Whether it has not been heard of for too long.
    pub fn is_silent(&self) -> bool {
        self.heard.unseen_seconds > SILENT_AFTER
    }
}

/// How everything is; of what processes do, only what `only` does, if there is such a process.
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

/// How everything is, in a few words.
pub struct Glance {
    /// What should be looked at.
    pub concerns: usize,
    /// Processes that answer requests, and those that do background work. One may do both.
    pub web: usize,
    /// See there.
    pub workers: usize,
}

/// As [`look`], for the foot of every page of the operator's.
pub async fn glance(db: &PgPool, waiting: &Waiting, now: OffsetDateTime) -> Result<Glance, StoreError> {
    let processes = named(health::list(db).await?);
    let rows = health::minutes(db, now - Duration::minutes(MINUTES)).await?;
    let does = |other: &str| {
        let awake = processes.iter().filter(|process| !process.is_silent());
        awake.filter(|process| process.heard.role != other).count()
    };
    Ok(Glance {
        concerns: concerns(&facts(&processes, &rows, waiting)).len(),
        web: does("worker"),
        workers: does("web"),
    })
}

/// Forgets what is too old.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    health::purge(db, now - KEPT, FORGOTTEN_AFTER).await
}

/// What the database says beside what processes wrote.
pub struct Waiting {
    jobs: Vec<QueueLength>,
    mails: WaitingMails,
    mail_is_sent: bool,
    database: pool::Usage,
    database_time: Span,
    stripe: Option<stripe_events::Told>,
}

impl Waiting {
    /// Asks it.
    pub async fn measure(app: &AppState, now: OffsetDateTime) -> Result<Self, StoreError> {
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

/// Names processes by their machines.
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
        stripe_differences: waiting.stripe.map_or(0, |told| told.differences),
    }
}

/// Every minute from `from` on, as the sum over processes.
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
        // A process whose clock is ahead may be in a later one.
        if let Some(minute) = minutes.get_mut(&row.minute) {
            minute.tally.add(&row.tally);
            minute.peak_waiting += row.peak_waiting;
        }
    }
    minutes.into_values().collect()
}
