//! The private cluster: created once, with access rules that are written at every start.
//!
//! Only the service's user can connect: Postgres listens only on a Unix socket, in a folder of mode 0700, and asks the
//! kernel for the user of each connection (`peer`).

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::process::Command;

use crate::{
    database::{
        binaries::{self, BinariesError},
        folder::{DataFolder, FolderError},
    },
    system_user::{self, SystemUserError},
};

/// Name of Postgres's superuser, and of the service's database.
const NAME: &str = "platen";
/// Only part of the socket's file name; there is no TCP listener.
const PORT: u16 = 5432;
/// Connections in addition to the service's pool: for commands, and for an operator's `psql`.
const SPARE_CONNECTIONS: u32 = 30;

/// Why the cluster can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("initdb could not create the database in {}: {said}", .folder.display())]
    Initdb {
        folder: PathBuf,
        /// The last lines of its error output.
        said: String,
    },
    /// A Postgres program could not be started.
    #[error("{program} could not be started: {source}")]
    NotStarted { program: &'static str, source: io::Error },
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Binaries(#[from] BinariesError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    User(#[from] SystemUserError),
}

/// A cluster that is ready to be started.
#[derive(Debug, Clone)]
pub struct Cluster {
    folder: DataFolder,
    binaries: PathBuf,
    max_connections: u32,
}

impl Cluster {
    /// Creates the cluster unless it exists, and writes its access rules. `connections` is the size of the service's
    /// pool.
    pub async fn prepare(folder: &DataFolder, connections: u32) -> Result<Self, ClusterError> {
        let cluster = Self {
            folder: folder.clone(),
            binaries: binaries::find(version(folder)?.as_deref())?,
            max_connections: connections + SPARE_CONNECTIONS,
        };
        cluster.write_access_rules()?;
        if version(folder)?.is_none() {
            cluster.initialise().await?;
        }
        Ok(cluster)
    }

    pub fn folder(&self) -> &DataFolder {
        &self.folder
    }

    /// Returns the command that starts the server. Output goes to a file: a pipe would break if this process is killed
    /// and Postgres survives.
    pub fn server(&self) -> Result<Command, ClusterError> {
        let log = self.folder.postgres_log();
        let open = || {
            if log.exists() {
                fs::rename(&log, log.with_extension("log.old"))?;
            }
            let file = fs::File::create(&log)?;
            Ok::<_, io::Error>((file.try_clone()?, file))
        };
        let (stdout, stderr) = open().map_err(|source| ClusterError::File {
            path: log.clone(),
            source,
        })?;
        let access = self.folder.access_folder();
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.folder.cluster_folder());
        for (name, value) in [
            ("listen_addresses", String::new()),
            ("port", PORT.to_string()),
            ("unix_socket_directories", list_element(&self.folder.socket_folder())),
            ("unix_socket_permissions", "0700".into()),
            ("hba_file", access.join("hba.conf").display().to_string()),
            ("ident_file", access.join("ident.conf").display().to_string()),
            ("max_connections", self.max_connections.to_string()),
            // Statements are not logged, because they may contain content.
            ("log_min_error_statement", "panic".into()),
            ("log_checkpoints", "off".into()),
        ] {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdout(stdout).stderr(stderr);
        Ok(command)
    }

    /// Stops a server that outlived a killed service.
    pub async fn stop_leftover(&self) -> Result<(), ClusterError> {
        let mut command = self.command("pg_ctl");
        command.arg("stop").arg("-D").arg(self.folder.cluster_folder());
        command.args(["-w", "-m", "fast", "-t", "60"]);
        let output = run(command, "pg_ctl").await?;
        if !output.status.success() {
            tracing::warn!(
                said = last_words(&output.stderr),
                "Postgres of a killed service could not be stopped"
            );
        }
        Ok(())
    }

    /// Creates a command for a Postgres program, as the user that owns the data. It gets its own process group, so that
    /// Ctrl-C in a terminal reaches only the service, which stops Postgres last.
    fn command(&self, program: &'static str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command
            .env_clear()
            .env("LC_ALL", "C")
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/");
        command.stdin(Stdio::null()).process_group(0);
        if let Some(user) = self.folder.database_user() {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }

    async fn initialise(&self) -> Result<(), ClusterError> {
        let path = self.folder.cluster_folder();
        tracing::info!(folder = %path.display(), "creating a private database");
        let draft = self.folder.fresh_cluster_draft()?;
        let mut command = self.command("initdb");
        command.arg("-D").arg(&draft).args([
            "-U",
            NAME,
            "--auth=peer",
            "--encoding=UTF8",
            "--no-locale",
            "--data-checksums",
        ]);
        let output = run(command, "initdb").await?;
        if !output.status.success() {
            return Err(ClusterError::Initdb {
                folder: draft,
                said: last_words(&output.stderr),
            });
        }
        fs::rename(draft, &path).map_err(|source| ClusterError::File { path, source })
    }

    fn write_access_rules(&self) -> Result<(), ClusterError> {
        let user = system_user::current()?;
        let access = self.folder.access_folder();
        let rules = [
            ("hba.conf", format!("local all {NAME} peer map=service\n")),
            ("ident.conf", format!("service \"{}\" {NAME}\n", user.name)),
        ];
        for (name, text) in rules {
            let path = access.join(name);
            fs::write(&path, text).map_err(|source| ClusterError::File { path, source })?;
        }
        Ok(())
    }
}

/// Returns the options to connect to the service's database in a private cluster.
pub fn connect_options(folder: &DataFolder) -> PgConnectOptions {
    maintenance_options(folder).database(NAME)
}

/// Returns the options to connect to the maintenance database, which every cluster has.
pub fn maintenance_options(folder: &DataFolder) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(folder.socket_folder())
        .port(PORT)
        .username(NAME)
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
}

/// The name of the service's database in a private cluster.
pub const DATABASE_NAME: &str = NAME;

/// Returns the major version that created the cluster, or `None` if there is no cluster yet.
pub fn version(folder: &DataFolder) -> Result<Option<String>, ClusterError> {
    let path = folder.cluster_folder().join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ClusterError::File { path, source }),
    }
}

async fn run(mut command: Command, program: &'static str) -> Result<Output, ClusterError> {
    command
        .output()
        .await
        .map_err(|source| ClusterError::NotStarted { program, source })
}

/// Formats a path as an element of a list: quoted, because it may contain a comma.
fn list_element(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

/// Returns the last lines of a program's output.
pub fn last_words(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
