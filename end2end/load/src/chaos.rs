//! A batch under fault injection: while it is rendered, processes die, are suspended or get a wrong time, and the network
//! between them and Postgres, the bucket and the receiver of callbacks breaks, delays and throttles connections. Counts
//! that each row has one document and one callback, and is charged once.

mod bridge;
mod faults;
mod process;
mod random;
mod toxiproxy;

use std::{
    collections::BTreeMap,
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use futures::future::try_join;
use reqwest::Method;
use serde::Serialize;
use sqlx::PgPool;
use tokio::time::sleep;

use crate::{
    bench::progress,
    chaos::{
        bridge::Bridge,
        faults::{DEATH, Faults, Schedule},
        process::Process,
        toxiproxy::{Proxy, Toxiproxy},
    },
    error::LoadError,
    platen::{
        Service,
        client::{Client, answer},
    },
    receiver::Receiver,
    scale::{self, CONNECTIONS, SETTINGS},
    store::Store,
    verification::{Accepted, Deviations, describe_jobs, remaining, verify},
};

/// Processes that do background work. Another one, which no fault affects, receives requests and runs Postgres.
const PROCESSES: usize = 3;
const BUCKET: &str = "documents";
/// Folder of the default storage.
const FOLDER: &str = "renders";
/// Maximum duration of the faults.
const LONGEST: Duration = Duration::from_mins(30);
/// Time after the last fault in which the batch must end; more than the lease of a job and the longest delay of a render.
const CALM: Duration = Duration::from_mins(5);
/// Polling interval for what is left to do.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The measurements of a batch under fault injection.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChaosResult {
    pub(crate) rows: usize,
    /// From the end of the upload until nothing is left to do.
    pub(crate) seconds: f64,
    /// Numbers of faults by their kind.
    pub(crate) faults: BTreeMap<String, usize>,
    #[serde(flatten)]
    pub(crate) deviations: Deviations,
    /// Deliveries of a callback that had been delivered before, which receivers recognize by its id.
    pub(crate) delivered_again: usize,
    /// Deliveries signed with a wrong time.
    pub(crate) skewed: usize,
    /// Objects in the bucket without a successful render.
    pub(crate) orphans: usize,
    /// How often the batch was resumed after it had paused, because three processes in succession had died during its turns.
    pub(crate) resumed: usize,
}

impl fmt::Display for ChaosResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "Batch of {} rows under fault injection, {PROCESSES} processes: {:.0} s, {} faults, {} restarts",
            self.rows,
            self.seconds,
            self.faults.values().sum::<usize>(),
            self.faults.get(DEATH).unwrap_or(&0),
        )?;
        for (fault, count) in &self.faults {
            writeln!(formatter, "{count:>8} × {fault}")?;
        }
        writeln!(formatter, "{}", self.deviations)?;
        write!(
            formatter,
            "{} callbacks delivered again, {} signed with a wrong time, {} objects without a render, batch resumed {} times",
            self.delivered_again, self.skewed, self.orphans, self.resumed,
        )
    }
}

/// Measures a batch of `rows` rows; fails if a row is lost, doubled or charged wrongly. `simulated` is the program
/// `platen-simulated`.
pub(crate) async fn measure(simulated: &Path, rows: usize) -> Result<ChaosResult, LoadError> {
    progress("start of MinIO and Toxiproxy");
    let (store, toxiproxy) = (Store::start().await?, Toxiproxy::start().await?);
    store.create_bucket(BUCKET)?;
    let front = scale::start(simulated, "web", &[&SETTINGS[..], &[CONNECTIONS]].concat())?;
    let measured = front
        .while_it_runs(async |front| measure_processes(simulated, front, &store, &toxiproxy, rows).await)
        .await;
    let stopped = (toxiproxy.stop().await, store.stop().await);
    let result = measured?;
    stopped.0.and(stopped.1)?;
    if result.deviations.sum() > 0 {
        return Err(LoadError::Platen(format!(
            "lost, doubled or miscounted something:\n{result}"
        )));
    }
    Ok(result)
}

async fn measure_processes(
    simulated: &Path,
    front: &Service,
    store: &Store,
    toxiproxy: &Toxiproxy,
    rows: usize,
) -> Result<ChaosResult, LoadError> {
    let bridge = Bridge::start(front.database_socket()).await?;
    let mut processes = Vec::new();
    for number in 1..=PROCESSES {
        processes.push(Process::start(simulated, number, toxiproxy, &bridge.authority, store).await?);
    }
    let database = front.database().await?;
    let receiver = Receiver::start().await?;
    let callbacks = toxiproxy.create_proxy("callbacks", &receiver.authority).await?;
    let stage = Stage {
        db: &database.pool,
        client: front.new_client("chaos").await?,
        store,
        receiver,
        rows,
    };
    let result = stage.measure(&mut processes, &callbacks).await?;
    for process in processes {
        process.stop().await?;
    }
    database
        .close()
        .await
        .map_err(|error| front.failure(&error.to_string()))?;
    Ok(result)
}

struct Stage<'a> {
    /// A pool that no fault affects.
    db: &'a PgPool,
    client: Client,
    store: &'a Store,
    receiver: Receiver,
    rows: usize,
}

impl Stage<'_> {
    async fn measure(&self, processes: &mut [Process], callbacks: &Proxy) -> Result<ChaosResult, LoadError> {
        progress(&format!("a batch of {} rows under fault injection", self.rows));
        let callback = format!("http://{}/", callbacks.authority);
        let batch = self.client.create_line_batch(&callback).await?;
        self.client.upload_rows(&batch, scale::rows(self.rows)).await?;
        let start = Instant::now();
        let schedule = Schedule::new(self.db);
        let working = async {
            let resumed = self.work_until_done(&batch, LONGEST).await;
            schedule.end();
            resumed
        };
        let (faults, (is_done, mut resumed)) = try_join(schedule.run(processes, callbacks), working).await?;
        if !is_done {
            progress("not finished under fault injection; waiting without it");
            let (is_done, resumed_in_calm) = self.work_until_done(&batch, CALM).await?;
            resumed += resumed_in_calm;
            if !is_done {
                return Err(LoadError::Platen(self.describe(&batch).await?));
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        // Callbacks that are delivered twice would arrive late.
        sleep(Duration::from_secs(2)).await;
        self.count(seconds, faults, resumed).await
    }

    /// Waits until the batch has ended and all callbacks are delivered, but not longer than `patience`, and resumes the
    /// batch if it pauses. Returns whether that is so, and the number of resumptions.
    async fn work_until_done(&self, batch: &str, patience: Duration) -> Result<(bool, usize), LoadError> {
        let (start, mut resumed) = (Instant::now(), 0);
        while start.elapsed() < patience {
            let (jobs, state) = remaining(self.db).await?;
            match (jobs, state.as_str()) {
                (0, "ended") => return Ok((true, resumed)),
                (_, "paused") => {
                    answer(self.client.request(Method::POST, &format!("{batch}/resume"))).await?;
                    resumed += 1;
                }
                _ => self.retry_callbacks().await?,
            }
            sleep(LOOK_EVERY).await;
        }
        Ok((false, resumed))
    }

    /// Retries callbacks that failed ten seconds ago, which would otherwise be retried after a minute, then after five.
    async fn retry_callbacks(&self) -> Result<(), LoadError> {
        let retry = "with waiting as materialized (
                select id from jobs
                where kind = 'callback' and claim is null and not due and run_at > now() and run_at < 'infinity'
                    and failed_at < now() - interval '10 seconds'
                order by id for update skip locked
             )
             update jobs set run_at = now() from waiting where jobs.id = waiting.id";
        sqlx::query(retry).execute(self.db).await?;
        Ok(())
    }

    /// Describes a batch that does not end.
    async fn describe(&self, batch: &str) -> Result<String, LoadError> {
        let shown = answer(self.client.request(Method::GET, batch)).await?;
        Ok(format!(
            "has not finished a batch {} minutes after the last fault: {}; {}; {} callbacks received",
            CALM.as_secs() / 60,
            shown["data"],
            describe_jobs(self.db).await?,
            self.receiver.counts().distinct,
        ))
    }

    async fn count(&self, seconds: f64, faults: Faults, resumed: usize) -> Result<ChaosResult, LoadError> {
        let accepted = Accepted {
            rows: self.rows,
            queued: &[],
            synchronous: &[],
        };
        let objects = self.store.list_objects(BUCKET, FOLDER)?;
        let verified = verify(self.db, accepted, &objects, &self.receiver).await?;
        let counts = self.receiver.counts();
        Ok(ChaosResult {
            rows: self.rows,
            seconds,
            faults,
            deviations: verified.deviations,
            delivered_again: counts.all - counts.distinct,
            skewed: counts.skewed,
            orphans: verified.orphans,
            resumed,
        })
    }
}
