//! The private server's process: started, watched, restarted when it dies, and ended with the service.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{process::Child, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    database::cluster::{self, Cluster, ClusterError},
    store::{error::StoreError, pool},
};

/// After a crash Postgres first repeats what its log holds.
const READY_TIMEOUT: Duration = Duration::from_mins(2);
const READY_POLL: Duration = Duration::from_millis(50);
/// The orphans of a killed server end by themselves, once they notice.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(20);
const ORPHAN_POLL: Duration = Duration::from_millis(50);
/// How long each way of stopping may take before the next, harsher one.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// A server that dies more often than that is beyond help.
const RESTARTS: usize = 5;
const RESTART_WINDOW: Duration = Duration::from_mins(1);

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum PostmasterError {
    /// It ended while it started.
    #[error("Postgres did not start; it said: {0}")]
    Ended(String),
    /// It neither ended nor answered.
    #[error("Postgres was not ready after {} s; it said: {said}", .after.as_secs())]
    NotReady {
        /// How long it had.
        after: Duration,
        /// What it said.
        said: String,
    },
    /// Processes of an earlier server don't end.
    #[error("processes of an earlier Postgres still work on the data and don't end: {0:?}; end them, then start again")]
    Orphans(Vec<u32>),
    /// It dies again and again.
    #[error("Postgres died {RESTARTS} times within {} s", RESTART_WINDOW.as_secs())]
    DiesAgain,
    /// Its process can't be watched.
    #[error("Postgres's process can't be watched: {0}")]
    Process(#[from] io::Error),
    /// It can't be started at all.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// It runs, but its database can't be made.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a server is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    /// Once nobody is connected.
    Smart,
    /// Connections are cut, open transactions undone.
    Fast,
}

/// A running server.
pub struct Postmaster {
    cluster: Cluster,
    child: Child,
}

impl Postmaster {
    /// Starts the server and waits until it answers. What an earlier one left behind is cleared first; the caller holds
    /// the lock, so it can belong to nobody else.
    pub async fn start(cluster: Cluster) -> Result<Self, PostmasterError> {
        clear_leftovers(&cluster).await?;
        let child = start_server(&cluster).await?;
        let options = cluster::maintenance_options(cluster.folder());
        pool::ensure_database(&options, cluster::DATABASE_NAME).await?;
        Ok(Self { cluster, child })
    }

    /// Starts the server again whenever it dies, until it is told to stop.
    pub async fn supervise(mut self, stop: CancellationToken) -> Result<(), PostmasterError> {
        let mut deaths: Vec<Instant> = Vec::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.stop(StopMode::Fast).await,
                status = self.child.wait() => {
                    tracing::error!(status = %status?, "Postgres died; it is started again");
                }
            }
            deaths.retain(|death| death.elapsed() < RESTART_WINDOW);
            deaths.push(Instant::now());
            if deaths.len() >= RESTARTS {
                return Err(PostmasterError::DiesAgain);
            }
            self = Self::start(self.cluster).await?;
            tracing::info!("Postgres is back");
        }
    }

    /// Ends the server, by harsher means when it does not follow.
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

/// Stops the server of a service that was killed, and waits for the orphans of a killed server: two servers on the same
/// data destroy them. Then removes the marks of the dead, whose process ids may belong to others by now: Postgres would
/// take those for a running server.
async fn clear_leftovers(cluster: &Cluster) -> Result<(), PostmasterError> {
    let folder = cluster.folder().cluster_folder();
    let mark = folder.join("postmaster.pid");
    let text = fs::read_to_string(&mark).unwrap_or_default();
    let postmaster: Option<u32> = text.lines().next().and_then(|line| line.trim().parse().ok());
    if postmaster.is_some_and(|process| processes_in(&folder).contains(&process)) {
        tracing::warn!("a Postgres was left behind by a service that was killed; it is stopped first");
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

/// Ids of the processes whose working folder this is, as it is of every process of a server.
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
