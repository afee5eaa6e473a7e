//! The service under test: the real binary with a private Postgres and its own browser, called over HTTP.

pub(crate) mod client;

use platen_core::config::Config;
use platen_server::database::{self, Database};
use rustix::{
    fs::{Advice, fadvise},
    process::{Pid, Signal, kill_process},
};
use std::{
    fs::{self, File, Permissions},
    io,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{
    error::LoadError,
    measure::{Caller, Limit, Outcome, run_round},
    platen::client::Client,
    processes,
};

/// Password of all users.
pub(crate) const PASSWORD: &str = "a long enough password, for the bench";

/// A running `platen serve` in a temporary data folder.
pub(crate) struct Service {
    binary: PathBuf,
    command: &'static str,
    settings: Vec<(&'static str, String)>,
    child: Child,
    /// Process id of the service.
    pub(crate) pid: u32,
    address: String,
    http: reqwest::Client,
    // Removed when dropped.
    folder: tempfile::TempDir,
}

impl Service {
    /// Starts the service in a role; it accepts requests after [`Self::wait_until_ready`].
    pub(crate) fn start(binary: &Path, chromium: &Path, role: &'static str) -> Result<Self, LoadError> {
        // The limits per account are not under test.
        let settings = [
            ("PLATEN_RATE_PER_MINUTE", "1000000"),
            ("PLATEN_CONCURRENCY", "256"),
            ("PLATEN_QUEUE_LIMIT", "1000"),
        ];
        Self::start_with(binary, chromium, role, &settings)
    }

    /// Like [`Self::start`], with default settings except for `settings`.
    pub(crate) fn start_with(
        binary: &Path,
        chromium: &Path,
        role: &'static str,
        settings: &[(&'static str, &str)],
    ) -> Result<Self, LoadError> {
        let chromium = chromium.display().to_string();
        let settings: Vec<_> = [("PLATEN_CHROMIUM", chromium.as_str()), ("PLATEN_ROLE", role)]
            .into_iter()
            .chain(settings.iter().copied())
            .collect();
        Self::start_command(binary, "serve", &settings)
    }

    /// Starts the service by a command of its program.
    pub(crate) fn start_command(
        binary: &Path,
        command: &'static str,
        settings: &[(&'static str, &str)],
    ) -> Result<Self, LoadError> {
        let folder = new_folder()?;
        let data = folder.path().join("data").display().to_string();
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let settings: Vec<_> = [("PLATEN_DATA_DIR", data)].into_iter().chain(settings).collect();
        forget_cached_pages(binary)?;
        let process = spawn(binary, command, &settings, folder.path())?;
        Ok(Self {
            binary: binary.to_owned(),
            command,
            settings,
            pid: process.pid,
            child: process.child,
            address: process.address,
            http: reqwest::Client::builder().http1_only().no_proxy().build()?,
            folder,
        })
    }

    /// Waits until the service accepts renders; fails if it exits or is not ready within two minutes.
    pub(crate) async fn wait_until_ready(&mut self) -> Result<(), LoadError> {
        // The first start creates a database cluster.
        const PATIENCE: Duration = Duration::from_mins(2);
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(self.failure(&format!("ended with {status}")));
            }
            if start.elapsed() > PATIENCE {
                return Err(self.failure(&format!("is not ready after {} s", PATIENCE.as_secs())));
            }
            let answer = self.http.get(format!("{}/readyz", self.address)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a signal to the service's own process.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        match pid_of(self.pid).filter(|_| self.child.id().is_some()) {
            Some(pid) => Ok(kill_process(pid, signal)?),
            None => Ok(()),
        }
    }

    /// Kills the service's own process.
    pub(crate) async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Starts the service again after [`Self::kill`], at another address.
    pub(crate) fn start_again(&mut self) -> Result<(), LoadError> {
        let process = spawn(&self.binary, self.command, &self.settings, self.folder.path())?;
        (self.pid, self.child, self.address) = (process.pid, process.child, process.address);
        Ok(())
    }

    /// Waits until the service is ready, runs `measure`, and stops the service even if that fails.
    pub(crate) async fn while_it_runs<T>(
        mut self,
        measure: impl AsyncFnOnce(&Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        let measured = async {
            self.wait_until_ready().await?;
            measure(&self).await
        }
        .await;
        let stopped = self.stop().await;
        let measured = measured?;
        stopped?;
        Ok(measured)
    }

    /// Creates an account and a key with the command line, and returns a client for them.
    pub(crate) async fn new_client(&self, name: &str) -> Result<Client, LoadError> {
        self.new_client_with(name, "Scale").await
    }

    /// Like [`Self::new_client`], on the given plan.
    pub(crate) async fn new_client_with(&self, name: &str, plan: &str) -> Result<Client, LoadError> {
        let email = Self::email(name);
        self.run(
            &[
                "accounts",
                "create",
                "--email",
                &email,
                "--plan",
                plan,
                "--credits",
                "1000000000",
            ],
            &format!("{PASSWORD}\n"),
        )
        .await?;
        let key = self
            .run(&["keys", "create", "--email", &email, "--name", "bench"], "")
            .await?;
        Ok(self.client(key.trim()))
    }

    /// Returns the email address of the owner of an account.
    pub(crate) fn email(name: &str) -> String {
        format!("{name}@load.example")
    }

    /// Returns a client with a key.
    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(&self.http, &self.address, key)
    }

    /// Returns the address of the service's private Postgres for other processes of this machine.
    pub(crate) fn database_url(&self) -> String {
        database_url(&self.database_folder())
    }

    /// Returns the socket of the service's private Postgres.
    pub(crate) fn database_socket(&self) -> PathBuf {
        self.database_folder().join(".s.PGSQL.5432")
    }

    fn database_folder(&self) -> PathBuf {
        self.folder.path().join("data/run")
    }

    /// Returns host and port.
    pub(crate) fn authority(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Returns the service's metrics, which require the token.
    pub(crate) async fn metrics(&self, token: &str) -> Result<String, LoadError> {
        let request = self.http.get(format!("{}/metrics", self.address)).bearer_auth(token);
        Ok(request.send().await?.error_for_status()?.text().await?)
    }

    /// Returns the service's settings, as its commands read them.
    fn config(&self) -> Result<Config, LoadError> {
        let known = |name: &str| self.settings.iter().find(|(known, _)| *known == name);
        let config = Config::read(&|name| known(name).map(|(_, value)| value.clone()));
        config.map_err(|error| LoadError::Platen(error.to_string()))
    }

    /// Returns the memory budget of all pages, in bytes.
    pub(crate) fn pages_budget(&self) -> Result<u64, LoadError> {
        Ok(self.config()?.memory.pages)
    }

    /// Connects to the service's database like its commands.
    pub(crate) async fn database(&self) -> Result<Database, LoadError> {
        let config = self.config()?;
        let database = database::open_for_command(&config).await;
        database.map_err(|error| self.failure(&error.to_string()))
    }

    /// Runs the callers; see [`run_round`].
    pub(crate) async fn measure<C: Caller>(&self, callers: Vec<C>, limit: Limit) -> Result<Outcome<C>, LoadError> {
        run_round(callers, limit, self.pid)
            .await
            .map_err(|error| self.failure(&error.to_string()))
    }

    /// Checks that the service still runs, stops it, and returns how long that took.
    pub(crate) async fn drain(mut self) -> Result<Duration, LoadError> {
        self.wait_until_ready().await?;
        let start = Instant::now();
        self.stop().await?;
        Ok(start.elapsed())
    }

    /// Stops the service; fails, and kills what is left, if processes remain.
    pub(crate) async fn stop(mut self) -> Result<(), LoadError> {
        const GRACE: Duration = Duration::from_secs(40);
        const AFTERMATH: Duration = Duration::from_secs(10);
        let tree = processes::tree(self.pid)?;
        self.signal(Signal::TERM)?;
        let left_in_time = timeout(GRACE, self.child.wait()).await.is_ok();
        if !left_in_time {
            self.child.kill().await?;
        }
        let end = Instant::now();
        while end.elapsed() < AFTERMATH && !processes::still_running(&tree).is_empty() {
            sleep(Duration::from_millis(50)).await;
        }
        let leftovers = processes::still_running(&tree);
        for process in &leftovers {
            if let Some(pid) = pid_of(process.pid) {
                // The process may have exited by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        match (left_in_time, leftovers.len()) {
            (true, 0) => Ok(()),
            (false, _) => Err(self.failure(&format!("did not exit within {} s of SIGTERM", GRACE.as_secs()))),
            (true, count) => Err(self.failure(&format!("left {count} processes behind"))),
        }
    }

    async fn run(&self, arguments: &[&str], input: &str) -> Result<String, LoadError> {
        self.run_by(&self.binary, arguments, input).await
    }

    /// Runs a command of a version of the program with the service's settings, and returns its output.
    pub(crate) async fn run_by(&self, binary: &Path, arguments: &[&str], input: &str) -> Result<String, LoadError> {
        let mut child = platen(binary, &self.settings)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).await?;
        }
        let output = child.wait_with_output().await?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(LoadError::Platen(format!(
            "refused `platen {}`: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )))
    }

    /// Returns an error with the end of the service's log.
    pub(crate) fn failure(&self, what: &str) -> LoadError {
        const LINES: usize = 15;
        let log = fs::read_to_string(self.folder.path().join("service.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.split_at(lines.len().saturating_sub(LINES)).1;
        LoadError::Platen(format!("{what}; its log ends:\n{}", last.join("\n")))
    }
}

/// Creates a temporary folder for data, which the users of the database and of the browser can enter.
pub(crate) fn new_folder() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// Returns the address of a private Postgres for other processes of this machine. `folder` is that of its socket.
pub(crate) fn database_url(folder: &Path) -> String {
    format!("postgres://platen@localhost/platen?host={}", folder.display())
}

/// A process of the service.
struct Process {
    pid: u32,
    child: Child,
    /// With the scheme.
    address: String,
}

/// Starts a process at a free address; its output is added to the log.
fn spawn(
    binary: &Path,
    command: &str,
    settings: &[(&'static str, String)],
    folder: &Path,
) -> Result<Process, LoadError> {
    let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("service.log"))?;
    let child = platen(binary, settings)
        .env("PLATEN_LISTEN", &listen)
        .arg(command)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .map_err(|error| LoadError::Platen(format!("{}: {error}", binary.display())))?;
    Ok(Process {
        pid: child
            .id()
            .ok_or_else(|| LoadError::Platen("has ended at once".into()))?,
        child,
        address: format!("http://{listen}"),
    })
}

/// Writes back the program's file and removes it from the page cache, so that the service maps it as it is read from the
/// disk. What a build or a copy has left in the cache lies in larger pieces, of which the kernel maps up to 7 MB more.
fn forget_cached_pages(binary: &Path) -> Result<(), LoadError> {
    let file = File::open(binary)?;
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(io::Error::from)?;
    Ok(())
}

fn pid_of(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

/// Returns the command without the environment variables of another Platen.
fn platen(binary: &Path, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name == "DATABASE_URL" || name.to_string_lossy().starts_with("PLATEN_") {
            command.env_remove(name);
        }
    }
    command
        .envs(settings.iter().map(|(name, value)| (name, value)))
        // Keeps signals that a terminal sends to the benchmark from reaching the service as well.
        .process_group(0)
        .kill_on_drop(true);
    command
}
