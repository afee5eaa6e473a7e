//! A Postgres server for one test that can be killed and restarted without losing committed data.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use platen_server::{database::binaries, system_user};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::support::{folder, process::PATIENCE};

const POLL: Duration = Duration::from_millis(50);

/// A running server; stopped on drop.
pub(crate) struct Cluster {
    folder: TempDir,
    binaries: PathBuf,
    postmaster: Child,
}

impl Cluster {
    /// Creates a cluster and starts the server.
    pub(crate) async fn start() -> Self {
        let folder = folder::temporary();
        let binaries = binaries::find(None).expect("Postgres is installed");
        let data = folder.path().join("pg");
        for name in ["pg", "run"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("a folder");
            fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("ours");
            if let Some(user) = system_user::unprivileged(system_user::DATABASE_USER).expect("deploy/setup.sh has run")
            {
                std::os::unix::fs::chown(&path, Some(user.uid), Some(user.gid)).expect("we are root");
            }
        }
        let mut initdb = as_owner(Command::new(binaries.join("initdb")));
        initdb.args([
            "-U",
            "platen",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            "-D",
        ]);
        let made = initdb.arg(&data).stdout(Stdio::null()).status().expect("initdb starts");
        assert!(made.success());
        let postmaster = postmaster(&binaries, &folder);
        let cluster = Self {
            folder,
            binaries,
            postmaster,
        };
        cluster.ready().await;
        cluster
    }

    /// Returns the address of its only database.
    pub(crate) fn url(&self) -> String {
        let socket_folder = self.folder.path().join("run");
        format!("postgres://platen@localhost/postgres?host={}", socket_folder.display())
    }

    /// Sends a signal, such as stop or continue, to every process of the server.
    pub(crate) fn signal(&self, signal: Signal) {
        let postmaster = self.postmaster.id();
        for id in children(postmaster).into_iter().chain([postmaster]) {
            // A process may have exited in the meantime.
            let _ = kill_process(Pid::from_raw(id.cast_signed()).expect("a process id"), signal);
        }
    }

    /// Kills the server and restarts it.
    pub(crate) async fn crash(&mut self) {
        self.kill();
        self.come_back().await;
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.postmaster.wait().expect("our child");
    }

    /// Restarts a killed server.
    pub(crate) async fn come_back(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        // The processes of the killed server may hold its shared memory for a moment.
        loop {
            self.postmaster = postmaster(&self.binaries, &self.folder);
            tokio::time::sleep(POLL).await;
            match self.postmaster.try_wait().expect("our child") {
                None => break,
                Some(_) => assert!(Instant::now() < deadline, "Postgres does not start again"),
            }
        }
        self.ready().await;
    }

    async fn ready(&self) {
        let deadline = Instant::now() + PATIENCE;
        while PgConnection::connect(&self.url()).await.is_err() {
            assert!(Instant::now() < deadline, "Postgres is not ready");
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
        self.signal(Signal::KILL);
        let _ = self.postmaster.wait();
    }
}

/// Starts the server. Committed data survives a crash of the server, but not of the machine (`fsync=off`).
fn postmaster(binaries: &std::path::Path, folder: &TempDir) -> Child {
    let mut command = as_owner(Command::new(binaries.join("postgres")));
    command
        .arg("-D")
        .arg(folder.path().join("pg"))
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c"])
        .arg(format!(
            "unix_socket_directories={}",
            folder.path().join("run").display()
        ));
    let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.expect("postgres starts")
}

fn as_owner(mut command: Command) -> Command {
    if let Some(user) = system_user::unprivileged(system_user::DATABASE_USER).expect("deploy/setup.sh has run") {
        command.uid(user.uid).gid(user.gid);
    }
    command.current_dir("/tmp");
    command
}

/// Returns the ids of a process's children.
fn children(parent: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let list = list.or_else(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Ok(String::new())
        } else {
            Err(error)
        }
    });
    let list = list.expect("Linux");
    list.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}
