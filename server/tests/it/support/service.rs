//! A running service with its own database and accounts.

use std::{ffi::OsString, fs, path::Path, process::Command, sync::Arc};

use reqwest_middleware::ClientWithMiddleware;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{
    answers,
    command::{Answer, platen, run},
    folder, postgres,
    process::Process,
};

/// The secret key of all services in tests.
pub(crate) const SECRET_KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A real `platen serve` on a free port; stopped on drop.
pub(crate) struct TestService {
    pub(crate) process: Process,
    /// Without a trailing slash.
    pub(crate) base_url: String,
    /// Fails the test if a response doesn't match the API description.
    pub(crate) client: ClientWithMiddleware,
    installation: Installation,
}

/// The parts that outlive the process.
#[derive(Clone)]
struct Installation {
    database_url: String,
    data: Arc<TempDir>,
    settings: Vec<(String, String)>,
}

/// An account with a key that has all scopes.
#[derive(Clone)]
pub(crate) struct TestAccount {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) key_id: String,
}

impl TestService {
    /// Starts a service with default settings, except for limits that tests would exceed.
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a service with these settings.
    pub(crate) async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::start_at(postgres::fresh_database().await, settings).await
    }

    /// Starts a service with these settings on an existing database.
    pub(crate) async fn start_at(database_url: String, settings: &[(&str, &str)]) -> Self {
        Self::start_in(database_url, folder::temporary(), settings).await
    }

    /// Starts a service on an existing database and data folder.
    pub(crate) async fn start_in(database_url: String, data: TempDir, settings: &[(&str, &str)]) -> Self {
        Self::start_on(Installation {
            database_url,
            data: Arc::new(data),
            settings: owned(settings),
        })
        .await
    }

    /// Starts another process on the same database and data folder.
    pub(crate) async fn beside(&self, settings: &[(&str, &str)]) -> Self {
        Self::start_on(Installation {
            settings: owned(settings),
            ..self.installation.clone()
        })
        .await
    }

    /// Starts another process on the same database, with a data folder of its own.
    pub(crate) async fn apart(&self, settings: &[(&str, &str)]) -> Self {
        Self::start_in(self.installation.database_url.clone(), folder::temporary(), settings).await
    }

    async fn start_on(installation: Installation) -> Self {
        let (process, base_url) = installation.start().await;
        Self {
            process,
            base_url,
            client: client(),
            installation,
        }
    }

    /// Stops the process with this signal, and starts it again on another port.
    pub(crate) async fn restart(&mut self, signal: Signal) {
        self.process.signal(signal);
        self.process.ended();
        (self.process, self.base_url) = self.installation.start().await;
    }

    /// Runs another command of the binary on the same database.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Answer {
        self.command_with(&[], arguments, input)
    }

    /// Like [`Self::command`], with these settings.
    pub(crate) fn command_with(&self, settings: &[(&str, &str)], arguments: &[&str], input: &str) -> Answer {
        let mut command: Command = platen();
        command
            .env("DATABASE_URL", &self.installation.database_url)
            .env("PLATEN_SECRET_KEY", SECRET_KEY)
            .env("PLATEN_DATA_DIR", self.data());
        command.envs(settings.iter().copied());
        run(command, arguments, input)
    }

    /// Creates an account with a key by commands, with more credits than tests use.
    pub(crate) fn account(&self, email: &str) -> TestAccount {
        self.account_with(email, &["--plan", "Scale"])
    }

    /// Like [`Self::account`], with these arguments.
    pub(crate) fn account_with(&self, email: &str, arguments: &[&str]) -> TestAccount {
        let create = ["accounts", "create", "--email", email];
        let id = self
            .command(&[&create, arguments].concat(), "a long password\n")
            .succeeded();
        let created = self.create_key(email, "tests", &[]);
        let key_id = created.stderr.trim().to_owned();
        let key = created.succeeded();
        TestAccount { id, key, key_id }
    }

    /// Creates a key with these arguments: prints the key on standard output and its id on standard error.
    pub(crate) fn create_key(&self, email: &str, name: &str, arguments: &[&str]) -> Answer {
        let create = ["keys", "create", "--email", email, "--name", name];
        self.command(&[&create, arguments].concat(), "")
    }

    /// Returns the URL of a path on this service.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    pub(crate) fn data(&self) -> &Path {
        self.installation.data.path()
    }

    /// Returns the names of the documents in the default storage, without the empty file with which the service tries it out.
    pub(crate) fn stored_documents(&self) -> Vec<OsString> {
        let files = fs::read_dir(self.data().join("renders")).expect("a folder");
        let files = files.map(|file| file.expect("a file"));
        let documents = files.filter(|file| file.metadata().is_ok_and(|metadata| metadata.len() > 0));
        documents.map(|file| file.file_name()).collect()
    }

    pub(crate) fn database_url(&self) -> &str {
        &self.installation.database_url
    }
}

impl Installation {
    /// Starts the process, and returns it with its base URL.
    async fn start(&self) -> (Process, String) {
        let mut command = platen();
        command
            .arg("serve")
            .env("DATABASE_URL", &self.database_url)
            .env("PLATEN_SECRET_KEY", SECRET_KEY)
            .env("PLATEN_DATA_DIR", self.data.path())
            .env("PLATEN_LISTEN", "127.0.0.1:0")
            .env("PLATEN_DATABASE_CONNECTIONS", "5")
            .env("PLATEN_RATE_PER_MINUTE", "100000")
            .env("PLATEN_CONCURRENCY", "16")
            .env("PLATEN_SHUTDOWN_GRACE", "5")
            // No store is reachable unless the test sets one.
            .env("PLATEN_GCS_ENDPOINT", "http://127.0.0.1:1")
            .envs(self.settings.iter().map(|(name, value)| (name, value)));
        let starting = tokio::task::spawn_blocking(|| {
            let mut process = Process::start(command);
            let base_url = base_url(&mut process);
            (process, base_url)
        });
        starting.await.expect("it gets ready")
    }
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let settings = settings.iter();
    settings
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Waits until a service on port 0 is ready, and returns its base URL.
pub(crate) fn base_url(process: &mut Process) -> String {
    let ready = process.wait_for_event("ready");
    format!("http://{}", ready["address"].as_str().expect("an address"))
}

/// Returns a client without proxy and redirects that validates responses against the API description.
pub(crate) fn client() -> ClientWithMiddleware {
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    reqwest_middleware::ClientBuilder::new(client)
        .with(answers::hold_to_the_description)
        .build()
}
