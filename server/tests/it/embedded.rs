//! The private Postgres: from the first start through crashes to the final stop.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::support::{
    command::{Answer, platen, run},
    folder,
    people::Town,
    process::{Process, processes_naming},
    service,
};

const DATABASE_CONNECTIONS: usize = 10;

/// A data folder, and the commands that use it.
struct Installation {
    folder: TempDir,
}

impl Installation {
    fn new() -> Self {
        Self {
            folder: folder::temporary(),
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn platen(&self) -> Command {
        let mut command = platen();
        command
            .env("PLATEN_DATA_DIR", self.data())
            .env("PLATEN_DATABASE_CONNECTIONS", DATABASE_CONNECTIONS.to_string())
            .env("PLATEN_LISTEN", "127.0.0.1:0");
        command
    }

    fn serve(&self) -> Process {
        let mut command = self.platen();
        command.arg("serve");
        Process::start(command)
    }

    fn run(&self, arguments: &[&str], input: &str) -> Answer {
        run(self.platen(), arguments, input)
    }

    /// Returns the processes whose command line names this folder.
    fn processes(&self) -> Vec<u32> {
        processes_naming(self.folder.path())
    }

    fn postmaster(&self) -> u32 {
        let file = fs::read_to_string(self.data().join("postgres/postmaster.pid")).expect("Postgres runs");
        file.lines().next().expect("a line").parse().expect("a process id")
    }
}

fn kill(process: u32) {
    kill_process(
        Pid::from_raw(process.cast_signed()).expect("a process id"),
        Signal::KILL,
    )
    .expect("it runs");
}

/// Returns the key that is printed on the first start, once the service is ready.
fn printed_key(process: &mut Process) -> String {
    process.wait_for(|process| {
        let printed = process.stdout();
        let line = printed.lines().find(|line| line.contains("API key"))?;
        printed
            .contains("curl")
            .then(|| line.split_whitespace().last().expect("the key").to_owned())
    })
}

async fn health(base_url: &str, key: &str) -> StatusCode {
    let request = service::client()
        .get(format!("{base_url}/api/v1/health"))
        .bearer_auth(key);
    request.send().await.expect("an answer").status()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[tokio::test]
async fn the_first_start_makes_an_account_and_later_starts_show_its_key_again() {
    let installation = Installation::new();
    let mut first = installation.serve();
    let base_url = service::base_url(&mut first);
    let key = printed_key(&mut first);
    assert!(
        first.stdout().contains(&base_url) && first.stdout().contains("owner@localhost"),
        "{}",
        first.stdout()
    );
    assert_eq!(health(&base_url, &key).await, StatusCode::OK);

    let log_in = fs::read_to_string(installation.data().join("first-log-in")).unwrap();
    let (email, password) = log_in.trim().split_once('\n').expect("two lines");
    let socket_folder = installation.data().join("run");
    let url = format!("postgres://platen@localhost/platen?host={}", socket_folder.display());
    let town = Town::at(&url).await;
    let mut browser = town.browser("192.0.2.1");
    let user = town.log_in(&mut browser, email, password).await.expect("logged in");
    assert_eq!(browser.user().await, Some(user));
    town.people.db.close().await;

    assert_eq!(mode(&installation.data().join("secret-key")), 0o600);
    let kept = installation.data().join("first-api-key");
    assert_eq!(fs::read_to_string(&kept).unwrap().trim(), key);
    assert_eq!(mode(&kept), 0o600);
    assert!(!first.log().contains(&key), "the key is in the log");

    first.signal(Signal::TERM);
    assert!(first.ended().success(), "{}", first.log());
    assert_eq!(installation.processes(), Vec::<u32>::new());

    let mut second = installation.serve();
    let base_url = service::base_url(&mut second);
    assert_eq!(printed_key(&mut second), key);
    assert_eq!(health(&base_url, &key).await, StatusCode::OK);
    assert_eq!(
        installation
            .run(&["keys", "list", "--email", "owner@localhost"], "")
            .succeeded()
            .lines()
            .count(),
        2
    );
}

#[tokio::test]
async fn it_is_reached_by_a_private_socket_only() {
    let installation = Installation::new();
    let mut process = installation.serve();
    service::base_url(&mut process);
    let socket_folder = installation.data().join("run");
    assert_eq!(mode(&socket_folder), 0o700);
    assert_eq!(mode(&installation.data().join("postgres")), 0o700);
    let url = format!("postgres://platen@localhost/platen?host={}", socket_folder.display());
    let mut connection = PgConnection::connect(&url).await.expect("this user may");
    let listens: String = sqlx::query_scalar("show listen_addresses")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(listens, "");
    if rustix::process::geteuid().is_root() {
        let status = fs::read_to_string(format!("/proc/{}/status", installation.postmaster())).unwrap();
        assert!(!status.contains("Uid:\t0"), "Postgres runs as root");
    }
}

#[test]
fn commands_work_while_the_service_runs_and_when_it_does_not() {
    let installation = Installation::new();
    let account = ["accounts", "create", "--email"];
    installation
        .run(&[&account[..], &["ann@example.org"]].concat(), "a long password\n")
        .succeeded();
    assert_eq!(installation.processes(), Vec::<u32>::new());

    // Concurrent commands share one server.
    std::thread::scope(|scope| {
        for email in ["bob@example.org", "cid@example.org"] {
            let arguments = [&account[..], &[email]].concat();
            scope.spawn(|| installation.run(&{ arguments }, "a long password\n").succeeded());
        }
    });
    assert_eq!(installation.processes(), Vec::<u32>::new());

    let mut process = installation.serve();
    service::base_url(&mut process);
    for email in ["ann@example.org", "bob@example.org", "cid@example.org"] {
        installation
            .run(&["keys", "create", "--email", email, "--name", "n"], "")
            .succeeded();
    }
}

#[test]
fn a_second_service_on_the_same_folder_is_refused_by_name() {
    let installation = Installation::new();
    let mut first = installation.serve();
    service::base_url(&mut first);
    let second = installation.run(&["serve"], "");
    assert_eq!(second.code, Some(1), "{second:#?}");
    for expected in [
        installation.data().to_str().unwrap(),
        &first.id().to_string(),
        "PLATEN_DATA_DIR",
    ] {
        assert!(
            second.stderr.contains(expected),
            "{expected} is missing in:\n{}",
            second.stderr
        );
    }
}

#[tokio::test]
async fn a_killed_service_leaves_data_that_the_next_one_finds() {
    let installation = Installation::new();
    let mut first = installation.serve();
    service::base_url(&mut first);
    let key = printed_key(&mut first);
    let left_behind = installation.postmaster();
    first.signal(Signal::KILL);
    first.ended();

    let mut second = installation.serve();
    let base_url = service::base_url(&mut second);
    assert_ne!(installation.postmaster(), left_behind);
    assert_eq!(health(&base_url, &key).await, StatusCode::OK);

    // Once more, with Postgres killed as well.
    kill(installation.postmaster());
    second.signal(Signal::KILL);
    second.ended();
    let mut third = installation.serve();
    let base_url = service::base_url(&mut third);
    assert_eq!(health(&base_url, &key).await, StatusCode::OK);
    third.signal(Signal::TERM);
    assert!(third.ended().success(), "{}", third.log());
    assert_eq!(installation.processes(), Vec::<u32>::new());
}

#[tokio::test]
async fn a_postgres_that_dies_is_started_again() {
    let installation = Installation::new();
    let mut process = installation.serve();
    let base_url = service::base_url(&mut process);
    let key = printed_key(&mut process);
    kill(installation.postmaster());
    process.wait_for_event("Postgres was restarted");
    // Connections that were in use just before Postgres died fail once more each, and their clients are asked to try
    // again.
    let mut answers = Vec::new();
    while answers.len() <= DATABASE_CONNECTIONS && answers.last() != Some(&StatusCode::OK) {
        answers.push(health(&base_url, &key).await);
    }
    assert_eq!(answers.pop(), Some(StatusCode::OK));
    assert!(
        answers.iter().all(|status| *status == StatusCode::SERVICE_UNAVAILABLE),
        "{answers:?}"
    );
}

#[test]
fn a_postgres_that_cannot_be_started_again_takes_the_service_down_with_a_failing_code() {
    let installation = Installation::new();
    let mut process = installation.serve();
    service::base_url(&mut process);
    let postmaster = installation.postmaster();
    fs::rename(
        installation.data().join("postgres"),
        installation.data().join("elsewhere"),
    )
    .unwrap();
    kill(postmaster);
    assert_eq!(process.ended().code(), Some(1), "{}", process.log());
    assert!(process.log().contains("a background task failed"), "{}", process.log());
}
