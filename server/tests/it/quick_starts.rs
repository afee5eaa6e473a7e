//! The code examples in `docs/quick-start`, run unchanged.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::support::{
    command::{Answer, run},
    folder, pdf,
    studio::Studio,
};

/// The file extension of each language, its interpreter, and whether that must be available in every test run.
const LANGUAGES: [(&str, &[&str], bool); 5] = [
    ("sh", &["sh"], true),
    ("py", &["python3"], true),
    ("mjs", &["node"], true),
    ("go", &["go", "run"], false),
    ("php", &["php"], true),
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

/// Returns the command of an example in every language that can run on this machine.
fn commands(example: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    for (extension, interpreter, always) in LANGUAGES {
        let file = format!("{example}.{extension}");
        if !can_run(&file, interpreter[0], always) {
            continue;
        }
        let mut command = Command::new(interpreter[0]);
        command.args(&interpreter[1..]).arg(programs().join(file));
        commands.push(command);
    }
    // Built next to the service.
    let rust = Path::new(env!("CARGO_BIN_EXE_platen")).with_file_name(format!("examples/{example}"));
    if rust.is_file() {
        commands.push(Command::new(rust));
    } else {
        say(&format!(
            "{example}.rs was not tried: cargo build --example {example} makes it"
        ));
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
    for command in commands("quick_start") {
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
    for command in commands("quick_start") {
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

/// Returns a folder with rows for the examples of batches.
fn folder_with(rows: &str) -> TempDir {
    let folder = folder::temporary();
    fs::write(folder.path().join("invoices.csv"), rows).expect("our own folder");
    folder
}

/// Returns the lines of the results that an example has saved, without the header.
fn results(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("results.csv")).expect("results");
    let mut lines = text.lines().map(ToOwned::to_owned);
    let header = lines.next().expect("a header");
    assert_eq!(
        header,
        "\"row\",\"state\",\"render_id\",\"path\",\"document_url\",\"code\",\"message\""
    );
    lines.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_batch_makes_a_document_of_each_row() {
    let studio = Studio::start().await;
    let rows = fs::read_to_string(programs().join("invoices.csv")).expect("rows");
    for (count, command) in (1..).zip(commands("batch")) {
        let name = format!("{command:?}");
        let folder = folder_with(&rows);
        let answer = execute(command, folder.path(), &studio, &studio.account.key);
        assert_eq!(answer.code, Some(0), "{name}: {answer:#?}");
        assert!(
            answer.stdout.ends_with("3 of 3 documents, 0 failed\n"),
            "{name}: {answer:#?}"
        );
        let ended = "select count(*) from batches
                     where state = 'ended' and rows = 3 and succeeded = 3 and idempotency_key is not null";
        assert_eq!(studio.service.number(ended).await, count, "{name}");
        let results = results(folder.path());
        assert_eq!(results.len(), 3, "{name}: {results:?}");
        for ((row, line), texts) in (1..).zip(results).zip([
            ["Invoice 2026-071", "Ann Archer: €1,234.50"],
            ["Invoice 2026-072", "Bob Baker, Ltd.: €19.90"],
            ["Invoice 2026-073", "Zoë Carpenter: €300.00"],
        ]) {
            let succeeded = line.strip_prefix(&format!("\"{row}\",\"succeeded\",\""));
            let (render, _) = succeeded
                .and_then(|rest| rest.split_once('"'))
                .unwrap_or_else(|| panic!("{name}: {line}"));
            let found = pdf::text(&studio.document(render).await);
            assert!(texts.iter().all(|text| found.contains(text)), "{name}: {found}");
        }
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            2,
            "{name} leaves other files"
        );
    }
}

#[tokio::test]
async fn each_batch_fails_if_a_row_has_no_document() {
    let studio = Studio::start().await;
    for command in commands("batch") {
        let name = format!("{command:?}");
        let folder = folder_with("number,total\n1,10\n2,ten\n");
        let answer = execute(command, folder.path(), &studio, &studio.account.key);
        assert_eq!(answer.code, Some(1), "{name}: {answer:#?}");
        assert!(
            answer.stdout.ends_with("1 of 2 documents, 1 failed\n"),
            "{name}: {answer:#?}"
        );
        for text in ["Row 2: ", "is not a number", "ome rows have no document"] {
            assert!(answer.stderr.contains(text), "{name}: {text}: {answer:#?}");
        }
        assert!(!answer.stderr.contains("Row 1: "), "{name}: {answer:#?}");
        let results = results(folder.path());
        assert_eq!(results.len(), 2, "{name}: {results:?}");
        assert!(results[1].starts_with("\"2\",\"failed\","), "{name}: {results:?}");
    }
}

#[tokio::test]
async fn each_batch_says_why_it_was_refused() {
    let studio = Studio::start().await;
    for (key, rows, reason) in [
        ("nonsense", "number\n1\n", "The API key is unknown or revoked."),
        (
            studio.account.key.as_str(),
            "number\n1,2\n",
            "Line 2: The row has 2 fields",
        ),
    ] {
        for command in commands("batch") {
            let name = format!("{command:?}");
            let folder = folder_with(rows);
            let answer = execute(command, folder.path(), &studio, key);
            assert_eq!(answer.code, Some(1), "{name}: {answer:#?}");
            assert!(answer.stderr.contains(reason), "{name}: {answer:#?}");
            assert!(!folder.path().join("results.csv").exists(), "{name}");
        }
    }
}
