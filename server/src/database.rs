//! The database: the operator's, given by `DATABASE_URL`, or else a private Postgres in the data folder.

pub mod binaries;
pub mod cluster;
pub mod folder;
pub mod postmaster;

use std::{
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

use platen_core::{
    config::Config,
    store::{error::StoreError, pool},
};
use secrecy::ExposeSecret;
use sqlx::{PgPool, migrate::MigrateError, postgres::PgConnectOptions};
use tokio_util::sync::CancellationToken;

use crate::{
    database::{
        binaries::BinariesError,
        cluster::{Cluster, ClusterError},
        folder::{DataFolder, FolderError, Lock},
        postmaster::{Postmaster, PostmasterError, StopMode},
    },
    system_user::SystemUserError,
};

/// How long a command waits for a private Postgres that another process is starting or stopping.
const HANDOVER_TIMEOUT: Duration = Duration::from_mins(1);
const HANDOVER_POLL: Duration = Duration::from_millis(100);

/// Why the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The server at `DATABASE_URL` can't be reached.
    #[error("the database at DATABASE_URL can't be reached: {0}")]
    Unreachable(StoreError),
    /// `DATABASE_URL` is invalid; the message omits its value.
    #[error("DATABASE_URL is not a postgres:// address")]
    InvalidUrl,
    /// Another `platen serve` is running.
    #[error(
        "another `platen serve`{} uses the data folder {}; stop it first, or set PLATEN_DATA_DIR to another folder",
        .holder.map(|id| format!(" (process {id})")).unwrap_or_default(),
        .folder.display()
    )]
    InUse {
        folder: PathBuf,
        /// The other process's id, if known.
        holder: Option<u32>,
    },
    /// Another process held the private Postgres until the timeout.
    #[error(
        "the private Postgres in {} is being started or stopped by another process and did not become ready",
        .0.display()
    )]
    Busy(PathBuf),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Binaries(#[from] BinariesError),
    #[error(transparent)]
    User(#[from] SystemUserError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Postmaster(#[from] PostmasterError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the database's schema could not be migrated: {0}")]
    Migrate(#[from] MigrateError),
}

/// A database that is ready for use, with the current schema.
pub struct Database {
    pub pool: PgPool,
    /// The private server, if this process runs it.
    pub embedded: Option<Embedded>,
}

/// A private Postgres, run by this process.
pub struct Embedded {
    pub folder: DataFolder,
    pub postmaster: Postmaster,
    /// Held while the server runs.
    _postgres_lock: Lock,
    /// Held by `platen serve`.
    _serve_lock: Option<Lock>,
}

impl Embedded {
    /// Supervises the server until `stop` is cancelled, then stops it.
    pub async fn supervise(self, stop: CancellationToken) -> Result<(), PostmasterError> {
        self.postmaster.supervise(stop).await
    }
}

/// Opens the database for `platen serve`. Only one process may serve a private database.
pub async fn open_for_service(config: &Config) -> Result<Database, DatabaseError> {
    if config.database.url.is_some() {
        return open_by_url(config).await;
    }
    let folder = DataFolder::open(&config.data.folder)?;
    let Some(serve_lock) = folder.try_serve_lock()? else {
        return Err(DatabaseError::InUse {
            holder: folder.serve_lock_holder(),
            folder: folder.path().to_owned(),
        });
    };
    // A command that started Postgres for itself stops it within moments.
    let deadline = Instant::now() + HANDOVER_TIMEOUT;
    let postgres_lock = loop {
        match folder.try_postgres_lock()? {
            Some(lock) => break lock,
            None if Instant::now() > deadline => return Err(DatabaseError::Busy(folder.path().to_owned())),
            None => tokio::time::sleep(HANDOVER_POLL).await,
        }
    };
    start_embedded(config, folder, postgres_lock, Some(serve_lock)).await
}

/// Opens the database for one command. Uses a private Postgres that is running, or else starts one for the command.
pub async fn open_for_command(config: &Config) -> Result<Database, DatabaseError> {
    if config.database.url.is_some() {
        return open_by_url(config).await;
    }
    let folder = DataFolder::open(&config.data.folder)?;
    let deadline = Instant::now() + HANDOVER_TIMEOUT;
    loop {
        if let Some(lock) = folder.try_postgres_lock()? {
            return start_embedded(config, folder, lock, None).await;
        }
        // The process that holds the lock may still be starting or stopping Postgres.
        if let Ok(pool) = pool::connect(cluster::connect_options(&folder), config.database.connections).await {
            pool::migrate(&pool).await?;
            return Ok(Database { pool, embedded: None });
        }
        if Instant::now() > deadline {
            return Err(DatabaseError::Busy(folder.path().to_owned()));
        }
        tokio::time::sleep(HANDOVER_POLL).await;
    }
}

impl Database {
    /// Closes the database after a command. A server that was started for the command waits for connections of other
    /// commands.
    pub async fn close(self) -> Result<(), DatabaseError> {
        self.pool.close().await;
        if let Some(embedded) = self.embedded {
            embedded.postmaster.stop(StopMode::Smart).await?;
        }
        Ok(())
    }
}

async fn open_by_url(config: &Config) -> Result<Database, DatabaseError> {
    let url = config.database.url.as_ref().ok_or(DatabaseError::InvalidUrl)?;
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_| DatabaseError::InvalidUrl)?;
    let pool = pool::connect(options, config.database.connections)
        .await
        .map_err(DatabaseError::Unreachable)?;
    pool::migrate(&pool).await?;
    Ok(Database { pool, embedded: None })
}

async fn start_embedded(
    config: &Config,
    folder: DataFolder,
    postgres_lock: Lock,
    serve_lock: Option<Lock>,
) -> Result<Database, DatabaseError> {
    let cluster = Cluster::prepare(&folder, config.database.connections).await?;
    let postmaster = Postmaster::start(cluster).await?;
    let pool = pool::connect(cluster::connect_options(&folder), config.database.connections).await?;
    pool::migrate(&pool).await?;
    Ok(Database {
        pool,
        embedded: Some(Embedded {
            folder,
            postmaster,
            _postgres_lock: postgres_lock,
            _serve_lock: serve_lock,
        }),
    })
}
