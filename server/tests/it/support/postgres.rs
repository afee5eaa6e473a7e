//! One temporary Postgres for the whole run, and a fresh database for each test.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use platen_server::{database::binaries, system_user};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::command::{platen, run};

/// Creates a cluster without durability, prints its socket folder, runs it until standard input closes (which happens
/// however the test run ends), and removes its files. `umask` keeps other users out of the socket folder.
const SCRIPT: &str = r#"
set -eu
umask 077
folder=$(mktemp -d /tmp/platen-test-pg-XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/run"
"$1/initdb" -D "$folder/data" -U platen --auth=trust --encoding=UTF8 --no-locale --no-sync >/dev/null
"$1/postgres" -D "$folder/data" -c listen_addresses= -c unix_socket_directories="$folder/run" -c max_connections=300 \
  -c fsync=off -c synchronous_commit=off -c full_page_writes=off >"$folder/log" 2>&1 &
for _ in $(seq 600); do "$1/pg_isready" -q -h "$folder/run" && break; sleep 0.05; done
echo "$folder/run"
cat >/dev/null
kill -INT $!
wait
"#;

const TEMPLATE: &str = "migrated";

static SERVER: OnceLock<Server> = OnceLock::new();

struct Server {
    socket_folder: String,
    /// Holds the script's standard input open.
    _script: Child,
    databases: AtomicUsize,
}

/// Creates a database with the current schema and returns its address.
pub(crate) async fn fresh_database() -> String {
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(start))
        .await
        .expect("Postgres starts");
    let name = format!("test_{}", server.databases.fetch_add(1, Ordering::Relaxed));
    create(server, &format!("create database {name} template {TEMPLATE}")).await;
    server.url(&name)
}

/// Creates a database without tables and returns its address.
pub(crate) async fn empty_database() -> String {
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(start))
        .await
        .expect("Postgres starts");
    let name = format!("test_{}", server.databases.fetch_add(1, Ordering::Relaxed));
    create(server, &format!("create database {name}")).await;
    server.url(&name)
}

impl Server {
    fn url(&self, database: &str) -> String {
        format!("postgres://platen@localhost/{database}?host={}", self.socket_folder)
    }
}

async fn create(server: &Server, statement: &str) {
    let mut connection = PgConnection::connect(&server.url("postgres"))
        .await
        .expect("Postgres answers");
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(&mut connection)
        .await
        .expect("a new database");
}

fn start() -> Server {
    let mut command = Command::new("bash");
    command
        .args(["-c", SCRIPT, "bash"])
        .arg(binaries::find(None).expect("Postgres is installed"))
        .current_dir("/tmp");
    if let Some(user) = system_user::unprivileged(system_user::DATABASE_USER).expect("deploy/setup.sh has run") {
        command.uid(user.uid).gid(user.gid);
    }
    // In its own process group, so that Ctrl-C only stops the tests; the script ends when its input closes.
    let mut script = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut socket_folder = String::new();
    BufReader::new(script.stdout.take().expect("piped"))
        .read_line(&mut socket_folder)
        .expect("a line");
    let server = Server {
        socket_folder: socket_folder.trim().to_owned(),
        _script: script,
        databases: AtomicUsize::new(0),
    };
    assert!(
        !server.socket_folder.is_empty(),
        "the throw-away Postgres did not start"
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(create(&server, &format!("create database {TEMPLATE}")));
    let mut migrate = platen();
    migrate.env("DATABASE_URL", server.url(TEMPLATE));
    run(migrate, &["migrate"], "").succeeded();
    server
}
