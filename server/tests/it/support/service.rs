//! A running service with a database of its own, and accounts in it.

use std::{path::Path, process::Command, sync::Arc};

use reqwest_middleware::ClientWithMiddleware;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{
    answers,
    command::{Answer, platen, run},
    folder, postgres,
    process::Process,
};

/// Nothing is worth keeping from anybody here.
pub(crate) const SECRET_KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A real `platen serve` on a free port; ended with the value.
pub(crate) struct TestService {
    pub(crate) process: Process,
    /// Without a slash at its end.
    pub(crate) base_url: String,
    /// Fails the test if an answer is not as the API's description says.
    pub(crate) client: ClientWithMiddleware,
    installation: Installation,
}

/// What outlives the process.
#[derive(Clone)]
struct Installation {
    database_url: String,
    data: Arc<TempDir>,
    settings: Vec<(String, String)>,
}

/// An account with a key that may do everything.
#[derive(Clone)]
pub(crate) struct TestAccount {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) key_id: String,
}

impl TestService {
    /// Starts one with default settings, but for limits that tests would run into.
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts one with these settings.
    pub(crate) async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::start_at(postgres::fresh_database().await, settings).await
    }

    /// Starts one with these settings and a database that others look after.
    pub(crate) async fn start_at(database_url: String, settings: &[(&str, &str)]) -> Self {
        Self::start_in(database_url, folder::temporary(), settings).await
    }

    /// Starts one on a database and a data folder that are not new.
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

    async fn start_on(installation: Installation) -> Self {
        let (process, base_url) = installation.start().await;
        Self {
            process,
            base_url,
            client: client(),
            installation,
        }
    }

    /// Ends it by this signal, and starts it again on another port.
    pub(crate) async fn restart(&mut self, signal: Signal) {
        self.process.signal(signal);
        self.process.ended();
        (self.process, self.base_url) = self.installation.start().await;
    }

    /// Runs another command of the binary on the same database.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Answer {
        self.command_with(&[], arguments, input)
    }

    /// As [`Self::command`], with these settings.
    pub(crate) fn command_with(&self, settings: &[(&str, &str)], arguments: &[&str], input: &str) -> Answer {
        let mut command: Command = platen();
        command
            .env("DATABASE_URL", &self.installation.database_url)
            .env("PLATEN_SECRET_KEY", SECRET_KEY)
            .env("PLATEN_DATA_DIR", self.data());
        command.envs(settings.iter().copied());
        run(command, arguments, input)
    }

    /// Makes an account with a key, by the command line; it has more credits than tests use.
    pub(crate) fn account(&self, email: &str) -> TestAccount {
        self.account_with(email, &["--plan", "Scale"])
    }

    /// As [`Self::account`], with these arguments.
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

    /// Makes a further key with these arguments: the key, and its id on standard error.
    pub(crate) fn create_key(&self, email: &str, name: &str, arguments: &[&str]) -> Answer {
        let create = ["keys", "create", "--email", email, "--name", name];
        self.command(&[&create, arguments].concat(), "")
    }

    /// The address of a path on this service.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> &Path {
        self.installation.data.path()
    }

    /// Connects to its database.
    pub(crate) fn database_url(&self) -> &str {
        &self.installation.database_url
    }
}

impl Installation {
    /// The process, and where it listens.
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
            // Nobody is there: what a test does not say goes to no store at all.
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

/// Where a service that was started on port 0 listens, once it does.
pub(crate) fn base_url(process: &mut Process) -> String {
    let ready = process.wait_for_event("ready");
    format!("http://{}", ready["address"].as_str().expect("an address"))
}

/// A client that takes no detours, no proxy and no redirects, and holds answers to the API's description.
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
