//! A private Postgres that belongs to no process of the service, so that all of them can be replaced.

use std::path::Path;

use platen_core::store::pool;
use platen_server::database::{
    DatabaseError,
    cluster::{self, Cluster},
    folder::DataFolder,
    postmaster::{Postmaster, StopMode},
};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::{
    error::LoadError,
    platen::{database_url, new_folder},
};

/// Connections of all processes and their commands: at most four processes run at a time.
const CONNECTIONS: u32 = 80;
/// Connections of the benchmark.
const OWN_CONNECTIONS: u32 = 5;

pub(super) struct Postgres {
    postmaster: Postmaster,
    folder: DataFolder,
    // Removed when dropped.
    _temporary: TempDir,
}

impl Postgres {
    /// Starts a server with an empty database.
    pub(super) async fn start() -> Result<Self, LoadError> {
        let temporary = new_folder()?;
        let started = start(&temporary.path().join("data")).await;
        let (postmaster, folder) = started.map_err(|error| failure(&error))?;
        Ok(Self {
            postmaster,
            folder,
            _temporary: temporary,
        })
    }

    /// Returns the address of the database.
    pub(super) fn url(&self) -> String {
        database_url(&self.folder.socket_folder())
    }

    /// Returns the data folder, which processes can share for their documents.
    pub(super) fn data_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Connects to the database, whose schema stays as it is.
    pub(super) async fn connect(&self) -> Result<PgPool, LoadError> {
        let connected = pool::connect(cluster::connect_options(&self.folder), OWN_CONNECTIONS).await;
        connected.map_err(|error| failure(&error.into()))
    }

    /// Stops the server and removes its data.
    pub(super) async fn stop(self) -> Result<(), LoadError> {
        let stopped = self.postmaster.stop(StopMode::Fast).await;
        stopped.map_err(|error| failure(&error.into()))
    }
}

async fn start(path: &Path) -> Result<(Postmaster, DataFolder), DatabaseError> {
    let folder = DataFolder::open(path)?;
    let cluster = Cluster::prepare(&folder, CONNECTIONS).await?;
    Ok((Postmaster::start(cluster).await?, folder))
}

fn failure(error: &DatabaseError) -> LoadError {
    LoadError::Tool("Postgres", format!("is not usable: {error}"))
}
