//! Servers that `deploy/setup.sh` builds for benchmarks, each with a temporary folder.

use std::{
    env,
    fs::{self, File},
    io,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{
    process::{Child, Command},
    time::sleep,
};

use crate::error::LoadError;

/// A running server, which is killed when dropped.
pub(crate) struct Tool {
    /// Its name in errors.
    name: &'static str,
    child: Child,
    /// Without a trailing slash.
    pub(crate) url: String,
    // Removed when dropped.
    folder: tempfile::TempDir,
}

impl Tool {
    /// Starts a program and waits until the path `health` answers. `program` is its path in the cache; `prepare` receives
    /// its command, the address to listen at, and its folder.
    pub(crate) async fn start(
        name: &'static str,
        program: &str,
        health: &str,
        prepare: impl FnOnce(&mut Command, SocketAddr, &Path),
    ) -> Result<Self, LoadError> {
        let Some(program) = find_program(program) else {
            let missing = "is missing; `make bench ONLY=…` installs it for its section";
            return Err(LoadError::Tool(name, missing.into()));
        };
        let folder = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new(&program);
        prepare(&mut command, address, folder.path());
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Keeps signals that a terminal sends to the benchmark from reaching the server before the service stops.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LoadError::Tool(name, format!("{}: {error}", program.display())))?;
        let mut tool = Self {
            name,
            child,
            url: format!("http://{address}"),
            folder,
        };
        tool.wait_until_it_answers(health).await?;
        Ok(tool)
    }

    async fn wait_until_it_answers(&mut self, health: &str) -> Result<(), LoadError> {
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
            let answer = http.get(format!("{}{health}", self.url)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops the server and removes its folder.
    pub(crate) async fn stop(mut self) -> io::Result<()> {
        self.child.kill().await?;
        self.folder.close()
    }

    /// Returns an error with the server's log.
    fn failure(&self, what: &str) -> LoadError {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        LoadError::Tool(self.name, format!("{what}; its log:\n{log}"))
    }
}

/// Returns a program of the cache, where the tests find it as well.
fn find_program(path: &str) -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let caches = [cache, home].into_iter().flatten();
    let mut programs = caches.map(|cache| cache.join("platen").join(path));
    programs.find(|program| program.is_file())
}
