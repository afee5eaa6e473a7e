//! The process of the private server: starts it, supervises it, restarts it after a crash, and stops it with the
//! service.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use platen_core::store::{error::StoreError, pool};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{process::Child, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::database::cluster::{self, Cluster, ClusterError};

/// After a crash Postgres first replays its write-ahead log.
const READY_TIMEOUT: Duration = Duration::from_mins(2);
const READY_POLL: Duration = Duration::from_millis(50);
/// Orphans of a killed server exit on their own once they notice.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(20);
const ORPHAN_POLL: Duration = Duration::from_millis(50);
/// Timeout of each way of stopping, before the next, harsher one.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// A server that crashes more often than this is not restarted again.
const RESTARTS: usize = 5;
const RESTART_WINDOW: Duration = Duration::from_mins(1);

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum PostmasterError {
    /// It exited during start.
    #[error("Postgres did not start; its log ends with: {0}")]
    Ended(String),
    /// It neither exited nor accepted connections.
    #[error("Postgres was not ready after {} s; its log ends with: {said}", .after.as_secs())]
    NotReady {
        after: Duration,
        /// The last lines of its log.
        said: String,
    },
    /// Processes of an earlier server are still running.
    #[error("processes of an earlier Postgres still use the data and don't exit: {0:?}; end them, then try again")]
    Orphans(Vec<u32>),
    #[error("Postgres crashed {RESTARTS} times within {} s", RESTART_WINDOW.as_secs())]
    DiesAgain,
    #[error("Postgres's process can't be supervised: {0}")]
    Process(#[from] io::Error),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// It runs, but the service's database could not be created.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    /// Waits until all connections are closed.
    Smart,
    /// Closes connections and rolls back open transactions.
    Fast,
}

pub struct Postmaster {
    cluster: Cluster,
    child: Child,
}

impl Postmaster {
    /// Starts the server and waits until it accepts connections. First removes what an earlier server left behind; the
    /// caller holds the lock, so no other process can own it.
    pub async fn start(cluster: Cluster) -> Result<Self, PostmasterError> {
        clear_leftovers(&cluster).await?;
        let child = start_server(&cluster).await?;
        let options = cluster::maintenance_options(cluster.folder());
        pool::ensure_database(&options, cluster::DATABASE_NAME).await?;
        Ok(Self { cluster, child })
    }

    /// Restarts the server whenever it dies, until `stop` is cancelled. Fails if it dies five times within a minute.
    pub async fn supervise(mut self, stop: CancellationToken) -> Result<(), PostmasterError> {
        let mut deaths: Vec<Instant> = Vec::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.stop(StopMode::Fast).await,
                status = self.child.wait() => {
                    tracing::error!(status = %status?, "Postgres died; restarting it");
                }
            }
            deaths.retain(|death| death.elapsed() < RESTART_WINDOW);
            deaths.push(Instant::now());
            if deaths.len() >= RESTARTS {
                return Err(PostmasterError::DiesAgain);
            }
            self = Self::start(self.cluster).await?;
            tracing::info!("Postgres was restarted");
        }
    }

    /// Stops the server, by harsher means after each timeout.
    pub async fn stop(mut self, mode: StopMode) -> Result<(), PostmasterError> {
        let signals: &[Signal] = match mode {
            StopMode::Smart => &[Signal::TERM, Signal::INT, Signal::QUIT],
            StopMode::Fast => &[Signal::INT, Signal::QUIT],
        };
        for signal in signals {
            let Some(process) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) else {
                return Ok(());
            };
            kill_process(process, *signal).map_err(io::Error::from)?;
            if timeout(STOP_TIMEOUT, self.child.wait()).await.is_ok() {
                return Ok(());
            }
        }
        self.child.kill().await?;
        Ok(())
    }
}

async fn start_server(cluster: &Cluster) -> Result<Child, PostmasterError> {
    let mut child = cluster.server()?.spawn().map_err(|source| ClusterError::NotStarted {
        program: "postgres",
        source,
    })?;
    let options = cluster::maintenance_options(cluster.folder());
    let deadline = Instant::now() + READY_TIMEOUT;
    let said =
        || fs::read(cluster.folder().postgres_log()).map_or_else(|_| String::new(), |log| cluster::last_words(&log));
    loop {
        if child.try_wait()?.is_some() {
            return Err(PostmasterError::Ended(said()));
        }
        if pool::accepts_connections(&options).await {
            return Ok(child);
        }
        if Instant::now() > deadline {
            child.kill().await?;
            return Err(PostmasterError::NotReady {
                after: READY_TIMEOUT,
                said: said(),
            });
        }
        tokio::time::sleep(READY_POLL).await;
    }
}

/// Stops a server that outlived a killed service, and waits for the orphans of a killed server: two servers would
/// destroy the data that they share. Then removes lock files of dead processes, whose ids may have been reused:
/// Postgres would mistake them for a running server.
async fn clear_leftovers(cluster: &Cluster) -> Result<(), PostmasterError> {
    let folder = cluster.folder().cluster_folder();
    let mark = folder.join("postmaster.pid");
    let text = fs::read_to_string(&mark).unwrap_or_default();
    let postmaster: Option<u32> = text.lines().next().and_then(|line| line.trim().parse().ok());
    if postmaster.is_some_and(|process| processes_in(&folder).contains(&process)) {
        tracing::warn!("stopping the Postgres of a killed service");
        cluster.stop_leftover().await?;
    }
    let deadline = Instant::now() + ORPHAN_TIMEOUT;
    while let orphans = processes_in(&folder)
        && !orphans.is_empty()
    {
        if Instant::now() > deadline {
            return Err(PostmasterError::Orphans(orphans));
        }
        tokio::time::sleep(ORPHAN_POLL).await;
    }
    for path in [mark, cluster.folder().socket(), cluster.folder().socket_lock()] {
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(ClusterError::File { path, source }.into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the ids of processes with this working directory, as all processes of a server have.
fn processes_in(folder: &Path) -> Vec<u32> {
    let Ok(folder) = fs::canonicalize(folder) else {
        return Vec::new();
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|working| working == folder))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}
