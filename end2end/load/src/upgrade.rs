//! A rolling upgrade: during a batch, and requests of a client, the schema is migrated beside processes of the previous version,
//! and these are replaced one after the other. Counts that each render has one document and one credit, and each queued one a
//! callback, and that no request fails. Without browsers, as the section scale.

mod postgres;
mod traffic;

use std::{
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use futures::future::join3;
use serde::Serialize;
use sqlx::PgPool;
use tokio::time::sleep;

use crate::{
    bench::progress,
    error::LoadError,
    platen::Service,
    receiver::Receiver,
    scale::{self, SETTINGS},
    store,
    upgrade::{
        postgres::Postgres,
        traffic::{Responses, Traffic},
    },
    verification::{Accepted, Deviations, describe_jobs, remaining, succeeded_rows, verify},
};

/// Renders of a process at a time: few, so that the batch takes longer than the upgrade.
const SLOTS: (&str, &str) = ("PLATEN_SLOTS", "4");
/// Seconds that a process has to finish or return its work.
const GRACE_SECONDS: u32 = 30;
/// Where the documents are must not depend on the process that stores them.
const BASE_URL: (&str, &str) = ("PLATEN_BASE_URL", "http://platen.example");
/// Maximum duration of each step.
const PATIENCE: Duration = Duration::from_mins(5);
/// Polling interval for the progress of the batch.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The measurements of a rolling upgrade.
#[derive(Debug, Serialize)]
pub(crate) struct UpgradeResult {
    pub(crate) rows: usize,
    /// From the end of the upload until nothing is left to do.
    pub(crate) seconds: f64,
    #[serde(flatten)]
    steps: Steps,
    /// Single renders in the queue.
    queued: Responses,
    /// Single synchronous renders.
    synchronous: Responses,
    #[serde(flatten)]
    pub(crate) deviations: Deviations,
    /// Deliveries of a callback that had been delivered before, which receivers recognize by its id.
    pub(crate) delivered_again: usize,
    /// Stored documents without a successful render.
    pub(crate) orphans: usize,
}

#[derive(Debug, Serialize)]
struct Steps {
    migration_seconds: f64,
    /// The processes of the previous version, in the order in which they were stopped.
    drains: Vec<Drain>,
    /// Rows that were not finished when the last of these processes had exited.
    rows_left: usize,
}

#[derive(Debug, Serialize)]
struct Drain {
    role: &'static str,
    /// From SIGTERM to the exit.
    seconds: f64,
}

impl UpgradeResult {
    /// Returns the number of deviations from one document, one callback and one credit, and of failed requests.
    pub(crate) fn failures(&self) -> usize {
        self.deviations.sum() + self.queued.errors + self.synchronous.errors
    }

    /// Returns the seconds of the slowest process of the previous version from SIGTERM to its exit.
    pub(crate) fn slowest_drain(&self) -> f64 {
        self.steps.drains.iter().map(|drain| drain.seconds).fold(0.0, f64::max)
    }
}

impl fmt::Display for UpgradeResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Steps {
            migration_seconds,
            drains,
            rows_left,
        } = &self.steps;
        writeln!(
            formatter,
            "Rolling upgrade during a batch of {} rows: {:.0} s, {rows_left} rows left after the last previous process",
            self.rows, self.seconds,
        )?;
        let drains = drains
            .iter()
            .map(|drain| format!("{} {:.2} s", drain.role, drain.seconds));
        writeln!(
            formatter,
            "Migration: {migration_seconds:.2} s; drained after SIGTERM: {}; grace time: {GRACE_SECONDS} s",
            drains.collect::<Vec<_>>().join(", "),
        )?;
        for (kind, responses) in [("queued", &self.queued), ("synchronous", &self.synchronous)] {
            write!(
                formatter,
                "{} single {kind} renders accepted, {:.0} ms at most between two, {} requests failed",
                responses.renders.len(),
                responses.longest_gap_ms,
                responses.errors,
            )?;
            match &responses.first_error {
                Some(error) => writeln!(formatter, ", the first: {error}")?,
                None => writeln!(formatter)?,
            }
        }
        writeln!(formatter, "{}", self.deviations)?;
        write!(
            formatter,
            "{} callbacks delivered again, {} documents without a render",
            self.delivered_again, self.orphans,
        )
    }
}

/// Measures an upgrade during a batch of `rows` rows; fails if a render is lost, doubled or charged wrongly, if a request fails, if
/// a process takes longer than its grace time, or if no rows are left when the last process has exited. `previous` and `newer` are
/// the programs `platen-simulated` of both versions.
pub(crate) async fn measure(previous: &Path, newer: &Path, rows: usize) -> Result<UpgradeResult, LoadError> {
    progress("start of Postgres and of the previous version");
    let postgres = Postgres::start().await?;
    let measured = measure_on(&postgres, previous, newer, rows).await;
    let stopped = postgres.stop().await;
    let result = measured?;
    stopped?;
    if result.failures() > 0 || result.slowest_drain() >= f64::from(GRACE_SECONDS) {
        return Err(LoadError::Platen(format!(
            "lost, doubled, miscounted or refused something, or took too long to drain:\n{result}"
        )));
    }
    if result.steps.rows_left == 0 {
        return Err(LoadError::Platen(format!(
            "rendered all rows before the last process of the previous version had exited; use more --rows:\n{result}"
        )));
    }
    Ok(result)
}

async fn measure_on(
    postgres: &Postgres,
    previous: &Path,
    newer: &Path,
    rows: usize,
) -> Result<UpgradeResult, LoadError> {
    let (database_url, data) = (postgres.url(), postgres.data_folder().display().to_string());
    let grace = GRACE_SECONDS.to_string();
    let own = [
        SLOTS,
        BASE_URL,
        ("PLATEN_SHUTDOWN_GRACE", grace.as_str()),
        ("DATABASE_URL", database_url.as_str()),
        // Also that of the documents.
        ("PLATEN_DATA_DIR", data.as_str()),
    ];
    let settings = [&SETTINGS[..], &own].concat();
    let processes = Processes {
        web: start(previous, "web", &settings).await?,
        workers: [
            start(previous, "worker", &settings).await?,
            start(previous, "worker", &settings).await?,
        ],
    };
    let db = postgres.connect().await?;
    let documents = postgres.data_folder().join("renders");
    let stage = Stage {
        newer,
        settings: &settings,
        db: &db,
        documents: &documents,
        receiver: Receiver::start().await?,
        rows,
    };
    let result = stage.measure(processes).await;
    db.close().await;
    result
}

/// Starts a process in a role, and waits until it is ready.
async fn start(simulated: &Path, role: &str, settings: &[(&'static str, &str)]) -> Result<Service, LoadError> {
    let mut service = scale::start(simulated, role, settings)?;
    service.wait_until_ready().await?;
    Ok(service)
}

/// The processes of the previous version.
struct Processes {
    web: Service,
    workers: [Service; 2],
}

struct Stage<'a> {
    /// The program of the newer version.
    newer: &'a Path,
    /// Settings of all processes.
    settings: &'a [(&'static str, &'a str)],
    db: &'a PgPool,
    /// The folder of the default storage.
    documents: &'a Path,
    receiver: Receiver,
    rows: usize,
}

impl Stage<'_> {
    async fn measure(&self, previous: Processes) -> Result<UpgradeResult, LoadError> {
        let traffic = Traffic::new(previous.web.new_client("single").await?);
        let client = previous.web.new_client("batch").await?;
        let callback = self.receiver.url();
        progress(&format!("a batch of {} rows", self.rows));
        let batch = client.create_line_batch(&callback).await?;
        client.upload_rows(&batch, scale::rows(self.rows)).await?;
        let start = Instant::now();
        let upgrading = async {
            let upgraded = self.upgrade(previous, &traffic).await;
            traffic.stop();
            upgraded
        };
        let (queued, synchronous, upgraded) = join3(traffic.enqueue(&callback), traffic.render(), upgrading).await;
        let (steps, newer) = upgraded?;
        self.wait_until(async || Ok(remaining(self.db).await? == (0, "ended".to_owned())))
            .await?;
        let seconds = start.elapsed().as_secs_f64();
        // Callbacks that are delivered twice would arrive late.
        sleep(Duration::from_secs(2)).await;
        for process in newer {
            process.drain().await?;
        }
        let accepted = Accepted {
            rows: self.rows,
            queued: &queued.renders,
            synchronous: &synchronous.renders,
        };
        let documents = store::list_entries(self.documents)?;
        let verified = verify(self.db, accepted, &documents, &self.receiver).await?;
        let counts = self.receiver.counts();
        Ok(UpgradeResult {
            rows: self.rows,
            seconds,
            steps,
            queued,
            synchronous,
            deviations: verified.deviations,
            delivered_again: counts.all - counts.distinct,
            orphans: verified.orphans,
        })
    }

    /// Migrates the schema and replaces all processes, the workers first, each step after some progress of the batch, and waits for
    /// its end. Returns the newer processes.
    async fn upgrade(&self, previous: Processes, traffic: &Traffic) -> Result<(Steps, Vec<Service>), LoadError> {
        let Processes { web, workers } = previous;
        self.wait_for_tenths(1).await?;
        progress("migration beside the previous version");
        let start = Instant::now();
        web.run_by(self.newer, &["migrate"], "").await?;
        let migration_seconds = start.elapsed().as_secs_f64();
        let (mut drains, mut newer) = (Vec::new(), Vec::new());
        for (tenths, worker) in [3, 5].into_iter().zip(workers) {
            self.wait_for_tenths(tenths).await?;
            progress("replacement of a worker");
            drains.push(drain("worker", worker).await?);
            newer.push(self.start("worker").await?);
        }
        self.wait_for_tenths(7).await?;
        progress("replacement of the web process");
        let successor = self.start("web").await?;
        traffic.switch_to(&successor).await;
        drains.push(drain("web", web).await?);
        newer.push(successor);
        let rows_left = self.rows.saturating_sub(succeeded_rows(self.db).await?);
        // Not for all rows to succeed: rows that fail are reported as lost.
        self.wait_until(async || Ok(remaining(self.db).await?.1 == "ended"))
            .await?;
        let steps = Steps {
            migration_seconds,
            drains,
            rows_left,
        };
        Ok((steps, newer))
    }

    /// Starts a process of the newer version.
    async fn start(&self, role: &str) -> Result<Service, LoadError> {
        start(self.newer, role, self.settings).await
    }

    /// Waits until so many tenths of the rows have succeeded.
    async fn wait_for_tenths(&self, tenths: usize) -> Result<(), LoadError> {
        let rows = self.rows * tenths / 10;
        self.wait_until(async || Ok(succeeded_rows(self.db).await? >= rows))
            .await
    }

    async fn wait_until(&self, is_reached: impl AsyncFn() -> Result<bool, LoadError>) -> Result<(), LoadError> {
        let start = Instant::now();
        while !is_reached().await? {
            if start.elapsed() > PATIENCE {
                let jobs = describe_jobs(self.db).await?;
                let minutes = PATIENCE.as_secs() / 60;
                return Err(LoadError::Platen(format!(
                    "has made too little progress in {minutes} minutes; {jobs}"
                )));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}

async fn drain(role: &'static str, process: Service) -> Result<Drain, LoadError> {
    let seconds = process.drain().await?.as_secs_f64();
    Ok(Drain { role, seconds })
}
