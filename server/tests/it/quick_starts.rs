//! The code examples in `docs/quick-start`, run unchanged.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{
    command::{Answer, run},
    folder, pdf,
    studio::Studio,
};

/// The interpreter of each example, and whether it must be available in every test run.
const LANGUAGES: [(&str, &[&str], bool); 5] = [
    ("quick_start.sh", &["sh"], true),
    ("quick_start.py", &["python3"], true),
    ("quick_start.mjs", &["node"], true),
    ("quick_start.go", &["go", "run"], false),
    ("quick_start.php", &["php"], true),
];

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/quick-start")
}

/// Returns whether an example can run on this machine, and reports if not. `always`: its interpreter must be available in
/// every test run.
pub(crate) fn can_run(file: &str, interpreter: &str, always: bool) -> bool {
    let can_run = always || is_at_hand(interpreter);
    if !can_run {
        say(&format!(
            "{file} was not tried: there is no {interpreter} on this machine"
        ));
    }
    can_run
}

fn is_at_hand(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Writes to standard error directly, because the test harness captures the output of passing tests.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Returns the command of every example that can run on this machine.
fn commands() -> Vec<Command> {
    let mut commands = Vec::new();
    for (file, interpreter, always) in LANGUAGES {
        if !can_run(file, interpreter[0], always) {
            continue;
        }
        let mut command = Command::new(interpreter[0]);
        command.args(&interpreter[1..]).arg(programs().join(file));
        commands.push(command);
    }
    // Built next to the service.
    let rust = Path::new(env!("CARGO_BIN_EXE_platen")).with_file_name("examples/quick_start");
    if rust.is_file() {
        commands.push(Command::new(rust));
    } else {
        say("quick_start.rs was not tried: cargo build --example quick_start makes it");
    }
    commands
}

/// Runs an example in its own folder, with only `PATH` and `HOME` from this environment.
fn execute(mut command: Command, folder: &Path, studio: &Studio, key: &str) -> Answer {
    command.env_clear().current_dir(folder);
    for kept in ["PATH", "HOME"] {
        command.envs(env::var_os(kept).map(|value| (kept, value)));
    }
    command
        .env("PLATEN_URL", &studio.service.base_url)
        .env("PLATEN_KEY", key);
    run(command, &[] as &[&str], "")
}

#[tokio::test]
async fn each_makes_two_documents() {
    let studio = Studio::start().await;
    for command in commands() {
        let name = format!("{command:?}");
        let folder = folder::temporary();
        let answer = execute(command, folder.path(), &studio, &studio.account.key);
        assert_eq!(answer.code, Some(0), "{name}: {answer:#?}");
        for (file, texts) in [
            ("hello.pdf", ["Hello"].as_slice()),
            ("invoice.pdf", ["Invoice 7", "€1,234.50"].as_slice()),
        ] {
            let document = fs::read(folder.path().join(file)).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            let found = pdf::text(&document);
            assert!(texts.iter().all(|text| found.contains(text)), "{name}: {file}: {found}");
        }
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            2,
            "{name} leaves other files"
        );
    }
}

#[tokio::test]
async fn each_says_why_it_was_refused() {
    let studio = Studio::start().await;
    let create = ["keys", "create", "--email", "ann@example.org", "--name", "n"];
    let renders_only = studio
        .service
        .command(&[&create[..], &["--scope", "render"]].concat(), "")
        .succeeded();
    for command in commands() {
        let name = format!("{command:?}");
        let folder = folder::temporary();
        let answer = execute(command, folder.path(), &studio, &renders_only);
        assert_eq!(answer.code, Some(1), "{name}: {answer:#?}");
        assert!(
            answer.stderr.contains("lacks the scope templates:write"),
            "{name}: {answer:#?}"
        );
        assert!(
            !folder.path().join("invoice.pdf").exists(),
            "{name} keeps an answer that is no PDF"
        );
    }
}
