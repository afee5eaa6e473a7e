//! `MinIO` as a client's store, with its data in a temporary folder.

use std::{
    env,
    fs::{self, File},
    io,
    net::TcpListener,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    time::sleep,
};

use crate::error::LoadError;

const ACCESS_KEY_ID: &str = "platen";
const SECRET_ACCESS_KEY: &str = "platen-secret";

/// A running `MinIO`, which is killed when dropped.
pub(super) struct Store {
    child: Child,
    endpoint: String,
    // Removed when dropped.
    folder: tempfile::TempDir,
}

impl Store {
    /// Starts the store and waits until it answers.
    pub(super) async fn start() -> Result<Self, LoadError> {
        let program = find_program()?;
        let folder = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let authority = format!("127.0.0.1:{port}");
        let log = File::create(folder.path().join("log"))?;
        let child = Command::new(&program)
            .arg("server")
            .arg(folder.path().join("data"))
            .args(["--address", &authority])
            .env("MINIO_ROOT_USER", ACCESS_KEY_ID)
            .env("MINIO_ROOT_PASSWORD", SECRET_ACCESS_KEY)
            .env("MINIO_BROWSER", "off")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Keeps signals that a terminal sends to the benchmark from reaching the store before the service stops.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LoadError::Store(format!("{}: {error}", program.display())))?;
        let mut store = Self {
            child,
            endpoint: format!("http://{authority}"),
            folder,
        };
        store.wait_until_it_answers().await?;
        Ok(store)
    }

    async fn wait_until_it_answers(&mut self) -> Result<(), LoadError> {
        const PATIENCE: Duration = Duration::from_secs(30);
        let http = reqwest::Client::builder().no_proxy().build()?;
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(self.failure(&format!("ended with {status}")));
            }
            if start.elapsed() > PATIENCE {
                return Err(self.failure(&format!("does not answer after {} s", PATIENCE.as_secs())));
            }
            let answer = http.get(format!("{}/minio/health/live", self.endpoint)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the endpoint for storage connections.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Creates a bucket, which is a folder of the store.
    pub(super) fn create_bucket(&self, name: &str) -> io::Result<()> {
        fs::create_dir(self.data().join(name))
    }

    /// Counts the objects of a bucket that lie directly in `folder`; each has an entry of its own there.
    pub(super) fn count_objects(&self, bucket: &str, folder: &str) -> io::Result<u64> {
        let entries = fs::read_dir(self.data().join(bucket).join(folder))?;
        entries.map(|entry| entry.map(|_| 1_u64)).sum()
    }

    /// Stops the store and removes its data.
    pub(super) async fn stop(mut self) -> io::Result<()> {
        self.child.kill().await?;
        self.folder.close()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns an error with the store's log.
    fn failure(&self, what: &str) -> LoadError {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        LoadError::Store(format!("{what}; its log:\n{log}"))
    }
}

/// Returns the access key of the store as credentials of a storage connection.
pub(super) fn access_key() -> Value {
    json!({ "access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY })
}

/// Returns the binary that the tests use as well.
fn find_program() -> Result<PathBuf, LoadError> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let caches = [cache, home].into_iter().flatten();
    let mut programs = caches.map(|cache| cache.join("platen/stores/minio"));
    programs
        .find(|program| program.is_file())
        .ok_or_else(|| LoadError::Store("is missing: deploy/setup.sh --test installs it".into()))
}
