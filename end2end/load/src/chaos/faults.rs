//! Faults at random times and places, by fixed seeds: one at a time at each process, and one at a time between all
//! processes and the receiver of callbacks.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, time::Duration};

use futures::future::{try_join, try_join_all};
use platen_domain::job::LEASE;
use sqlx::PgPool;
use tokio::{sync::Mutex, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    chaos::{
        process::Process,
        random::Random,
        toxiproxy::{Disturbance, Proxy},
    },
    error::LoadError,
};

/// Time between two faults of a process, in milliseconds.
const BETWEEN_FAULTS: RangeInclusive<u64> = 500..=2_500;
/// The same for callbacks: longer, because a fault fails those of all processes.
const BETWEEN_CALLBACK_FAULTS: RangeInclusive<u64> = 2_000..=5_000;
/// Time from the death of a process to its next start, in milliseconds.
const DEAD: RangeInclusive<u64> = 1_000..=3_000;
/// Duration of a suspension, in milliseconds, besides [`OWN_JOBS_ONLY`].
const SUSPENDED: RangeInclusive<u64> = 1_000..=16_000;
/// Time after which others have finished the jobs that they held when a process was suspended.
const OWN_JOBS_ONLY: Duration = Duration::from_secs(4);
/// Seconds by which a clock jumps: more than a lease, less than the clock skew that the store accepts.
const JUMP: RangeInclusive<u64> = 120..=600;
/// Duration of a wrong time, in milliseconds.
const WRONG_TIME: RangeInclusive<u64> = 5_000..=15_000;
/// Time in which other processes finish the jobs that one has lost, before the next loses any: three losses end a job.
const RECOVERY: Duration = Duration::from_secs(4);

/// Name of the fault that restarts a process.
pub(super) const DEATH: &str = "process killed";

/// Numbers of faults by their kind.
pub(super) type Faults = BTreeMap<String, usize>;

/// A fault of a process, or of its connections.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Death,
    /// The process stops in the middle of its work, until its leases have expired, and goes on.
    Suspension,
    ClockJump,
    Database(Disturbance),
    Bucket(Disturbance),
}

impl Fault {
    fn all() -> Vec<Self> {
        let own = [Self::Death, Self::Suspension, Self::ClockJump];
        let database = Disturbance::ALL.map(Self::Database);
        let bucket = Disturbance::ALL.map(Self::Bucket);
        own.into_iter().chain(database).chain(bucket).collect()
    }

    /// Returns whether the process loses its jobs to others.
    fn loses_jobs(self) -> bool {
        match self {
            Self::Death | Self::Suspension => true,
            Self::Database(disturbance) => disturbance.breaks_connections(),
            Self::ClockJump | Self::Bucket(_) => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Death => formatter.write_str(DEATH),
            Self::Suspension => formatter.write_str("process suspended"),
            Self::ClockJump => formatter.write_str("clock jumped"),
            Self::Database(disturbance) => write!(formatter, "Postgres: {disturbance}"),
            Self::Bucket(disturbance) => write!(formatter, "bucket: {disturbance}"),
        }
    }
}

/// The faults of a run.
pub(super) struct Schedule<'a> {
    database: &'a PgPool,
    /// Once it is cancelled, no fault begins, and each fault ends.
    over: CancellationToken,
    /// Held during faults in which a process loses its jobs.
    loss: Mutex<()>,
}

impl<'a> Schedule<'a> {
    /// `database` is a pool that no fault affects.
    pub(super) fn new(database: &'a PgPool) -> Self {
        Self {
            database,
            over: CancellationToken::new(),
            loss: Mutex::new(()),
        }
    }

    /// Ends all faults.
    pub(super) fn end(&self) {
        self.over.cancel();
    }

    /// Causes faults until [`Self::end`], and returns their numbers. Nothing is disturbed afterwards.
    pub(super) async fn run(&self, processes: &mut [Process], callbacks: &Proxy) -> Result<Faults, LoadError> {
        let seeds = 1..;
        let strikes = processes
            .iter_mut()
            .zip(seeds)
            .map(|(process, seed)| self.strike(process, Random::new(seed)));
        let strikes = try_join_all(strikes);
        let (strikes, mut faults) = try_join(strikes, self.disturb_callbacks(callbacks, Random::new(0))).await?;
        for (fault, count) in strikes.into_iter().flatten() {
            *faults.entry(fault).or_default() += count;
        }
        Ok(faults)
    }

    async fn strike(&self, process: &mut Process, mut random: Random) -> Result<Faults, LoadError> {
        let (mut faults, mut round) = (Faults::new(), Fault::all());
        loop {
            random.shuffle(&mut round);
            for fault in &round {
                self.pass(random.duration(BETWEEN_FAULTS)).await;
                let loss = if fault.loses_jobs() {
                    Some(self.loss.lock().await)
                } else {
                    None
                };
                if self.over.is_cancelled() {
                    return Ok(faults);
                }
                *faults.entry(fault.to_string()).or_default() += 1;
                self.cause(*fault, process, &mut random).await?;
                if loss.is_some() {
                    self.pass(RECOVERY).await;
                }
            }
        }
    }

    /// Causes a fault, and ends it after a while.
    async fn cause(&self, fault: Fault, process: &mut Process, random: &mut Random) -> Result<(), LoadError> {
        match fault {
            Fault::Death => process.restart(random.duration(DEAD)).await,
            Fault::Suspension => {
                process.suspend()?;
                self.pass(OWN_JOBS_ONLY).await;
                expire_leases(self.database).await?;
                self.pass(random.duration(SUSPENDED)).await;
                Ok(process.resume()?)
            }
            Fault::ClockJump => {
                let seconds = random.within(JUMP).cast_signed();
                process.set_clock(random.either(seconds, -seconds))?;
                self.pass(random.duration(WRONG_TIME)).await;
                Ok(process.set_clock(0)?)
            }
            Fault::Database(disturbance) => self.disturb(&process.database, disturbance, random).await,
            Fault::Bucket(disturbance) => self.disturb(&process.bucket, disturbance, random).await,
        }
    }

    /// Callbacks of a batch have one address, so all processes reach it through one proxy.
    async fn disturb_callbacks(&self, callbacks: &Proxy, mut random: Random) -> Result<Faults, LoadError> {
        let (mut faults, mut round) = (Faults::new(), Disturbance::ALL);
        loop {
            random.shuffle(&mut round);
            for disturbance in round {
                self.pass(random.duration(BETWEEN_CALLBACK_FAULTS)).await;
                if self.over.is_cancelled() {
                    return Ok(faults);
                }
                *faults.entry(format!("callbacks: {disturbance}")).or_default() += 1;
                self.disturb(callbacks, disturbance, &mut random).await?;
            }
        }
    }

    async fn disturb(&self, proxy: &Proxy, disturbance: Disturbance, random: &mut Random) -> Result<(), LoadError> {
        proxy.disturb(disturbance, random).await?;
        self.pass(disturbance.duration(random)).await;
        proxy.heal(disturbance).await
    }

    /// Waits, but not beyond the end of the schedule.
    async fn pass(&self, time: Duration) {
        let _ = timeout(time, self.over.cancelled()).await;
    }
}

/// Ends the leases of jobs that have been held since almost [`OWN_JOBS_ONLY`], as if their process had been suspended for
/// longer than a lease. It may have been suspended in a transaction that locks them, for which this must not wait.
async fn expire_leases(db: &PgPool) -> Result<(), LoadError> {
    let held = OWN_JOBS_ONLY.saturating_sub(Duration::from_secs(1));
    sqlx::query(
        "with held as materialized (
            select id from jobs
            where claim is not null and lease_until < now() + $1::float8 * interval '1 second'
            order by id for update skip locked
         )
         update jobs set lease_until = now() - interval '1 second' from held where jobs.id = held.id",
    )
    .bind(LEASE.saturating_sub(held).as_secs_f64())
    .execute(db)
    .await?;
    Ok(())
}
