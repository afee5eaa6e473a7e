//! A process of the service with proxies in its way to the others, and with a clock of its own.

use std::{fs, io, path::Path, time::Duration};

use rustix::process::Signal;
use tokio::time::sleep;

use crate::{
    chaos::{
        BUCKET,
        toxiproxy::{Proxy, Toxiproxy},
    },
    error::LoadError,
    platen::Service,
    scale::{self, SETTINGS},
    store::{ACCESS_KEY_ID, SECRET_ACCESS_KEY, Store},
};

/// Renders of a process at a time. It holds six times as many jobs, which a crash counts against, so there are few.
const SLOTS: (&str, &str) = ("PLATEN_SLOTS", "4");
/// Name of the file with the time.
const TIME: &str = "time";

/// A process that does background work.
pub(super) struct Process {
    service: Service,
    pub(super) database: Proxy,
    pub(super) bucket: Proxy,
    /// Contains the file that libfaketime reads. Removed when dropped.
    clock: tempfile::TempDir,
}

impl Process {
    /// Starts a process that reaches Postgres at `database`, a host and port, and the store through proxies of its own.
    pub(super) async fn start(
        simulated: &Path,
        number: usize,
        toxiproxy: &Toxiproxy,
        database: &str,
        store: &Store,
    ) -> Result<Self, LoadError> {
        let library = find_libfaketime()?;
        let clock = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
        set_clock(clock.path(), 0)?;
        let database = toxiproxy.create_proxy(&format!("database-{number}"), database).await?;
        let authority = store.endpoint().trim_start_matches("http://");
        let bucket = toxiproxy.create_proxy(&format!("bucket-{number}"), authority).await?;
        let database_url = format!("postgres://platen@{}/platen?sslmode=disable", database.authority);
        let endpoint = format!("http://{}", bucket.authority);
        // Where the documents are must not depend on the process that stores them.
        let public_url = format!("{}/{BUCKET}", store.endpoint());
        let time = clock.path().join(TIME).display().to_string();
        let own = [
            SLOTS,
            ("DATABASE_URL", database_url.as_str()),
            ("PLATEN_DEFAULT_STORAGE", "aws_s3"),
            ("PLATEN_DEFAULT_BUCKET", BUCKET),
            ("PLATEN_DEFAULT_BUCKET_ENDPOINT", endpoint.as_str()),
            ("PLATEN_DEFAULT_BUCKET_URL", public_url.as_str()),
            ("PLATEN_AWS_ACCESS_KEY_ID", ACCESS_KEY_ID),
            ("PLATEN_AWS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
            ("LD_PRELOAD", library.as_str()),
            ("FAKETIME_TIMESTAMP_FILE", time.as_str()),
            ("FAKETIME_CACHE_DURATION", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let mut service = scale::start(simulated, "all", &[&SETTINGS[..], &own].concat())?;
        service.wait_until_ready().await?;
        Ok(Self {
            service,
            database,
            bucket,
            clock,
        })
    }

    /// Kills the process, and starts it again after `pause`.
    pub(super) async fn restart(&mut self, pause: Duration) -> Result<(), LoadError> {
        let pid = self.service.pid;
        self.service.kill().await?;
        // libfaketime removes them only if the process exits by itself.
        for name in ["faketime_shm", "sem.faketime_sem"] {
            let _ = fs::remove_file(format!("/dev/shm/{name}_{pid}"));
        }
        sleep(pause).await;
        self.service.start_again()?;
        self.service.wait_until_ready().await
    }

    /// Suspends the process until [`Self::resume`].
    pub(super) fn suspend(&self) -> io::Result<()> {
        self.service.signal(Signal::STOP)
    }

    pub(super) fn resume(&self) -> io::Result<()> {
        self.service.signal(Signal::CONT)
    }

    /// Sets the clock ahead by this number of seconds, or behind. The process notices it within a second.
    pub(super) fn set_clock(&self, ahead: i64) -> io::Result<()> {
        set_clock(self.clock.path(), ahead)
    }

    /// Checks that the process runs, and stops it.
    pub(super) async fn stop(self) -> Result<(), LoadError> {
        self.service.drain().await?;
        Ok(())
    }
}

/// Replaces the file at once, because an empty one would end the process.
fn set_clock(folder: &Path, ahead: i64) -> io::Result<()> {
    let draft = folder.join("draft");
    fs::write(&draft, format!("{ahead:+}\n"))?;
    fs::rename(draft, folder.join(TIME))
}

fn find_libfaketime() -> Result<String, LoadError> {
    let mut folders = fs::read_dir("/usr/lib")?;
    let library = folders.find_map(|folder| {
        let library = folder.ok()?.path().join("faketime/libfaketimeMT.so.1");
        library.is_file().then(|| library.display().to_string())
    });
    library.ok_or_else(|| LoadError::Tool("libfaketime", "is missing; `make bench ONLY=chaos` installs it".into()))
}
