//! `platen batch …`: documents for the rows of a file.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::support::{
    command::{Answer, platen, run},
    fault_proxy::{Fault, FaultProxy},
    folder,
    origin::Origin,
    process::PATIENCE,
    studio::Studio,
};

const POLL: Duration = Duration::from_millis(20);
const PIECES: &str = "select count(*) from batch_pieces";

/// A service, and a folder for files.
struct Desk {
    studio: Studio,
    folder: TempDir,
    /// Id of a template that shows a number.
    template: String,
}

impl Desk {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Self {
        let studio = Studio::start_with(settings).await;
        let path = studio.template("Invoice", "Invoice {{ number }}").await;
        Self {
            studio,
            folder: folder::temporary(),
            template: path.rsplit_once('/').expect("an id").1.to_owned(),
        }
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    }

    fn program(&self) -> Command {
        let mut program = platen();
        program
            .env("PLATEN_KEY", &self.studio.account.key)
            .current_dir(self.folder.path());
        program
    }

    fn execute(&self, arguments: &[&str]) -> Answer {
        self.execute_with(arguments, "")
    }

    /// Executes a command with this standard input.
    fn execute_with(&self, arguments: &[&str], input: &str) -> Answer {
        self.execute_at(&self.studio.service.base_url, arguments, input)
    }

    /// Executes a command that reaches the service at this address.
    fn execute_at(&self, address: &str, arguments: &[&str], input: &str) -> Answer {
        let server = ["--server", address];
        run(self.program(), &[&["batch"], arguments, &server[..]].concat(), input)
    }

    /// Starts a command that reaches the service at this address.
    fn spawn_at(&self, address: &str, arguments: &[&str]) -> Child {
        self.program()
            .arg("batch")
            .args(arguments)
            .args(["--server", address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    /// Begins to upload rows from standard input, and waits until the first ones are stored.
    async fn begin_upload(&self) -> (Child, ChildStdin) {
        let arguments = ["run", "-", "--format", "csv", "--template", &self.template];
        let mut child = self.spawn_at(&self.studio.service.base_url, &arguments);
        let mut input = child.stdin.take().expect("piped");
        let rows = format!("number\n{}", "1\n".repeat(600));
        input.write_all(rows.as_bytes()).expect("it is read");
        self.studio.service.number_is(1, PIECES).await;
        (child, input)
    }

    /// Begins a batch of these rows, whose renders don't end by themselves, and returns its id.
    fn begin_endless_batch(&self, rows: &str) -> String {
        let request = format!(
            r#"{{"parts": [{{"type": "template", "content": {{"template_id": "{}"}}}}],
                "evaluate_js": {{"expression": "new Promise(() => {{}})"}}}}"#,
            self.template
        );
        self.write("request.json", &request);
        self.write("rows.jsonl", rows);
        let arguments = ["run", "rows.jsonl", "--request", "request.json", "--detach"];
        self.execute(&arguments).succeeded()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_of_a_file_become_documents() {
    let desk = Desk::start().await;
    desk.write("rows.csv", "number\n1\n2\n3\n");
    let answer = desk.execute(&[
        "run",
        "rows.csv",
        "--template",
        &desk.template,
        "--name",
        "May",
        "--file-names",
        "{{ number }}.pdf",
        "--results",
        "out.csv",
    ]);
    let id = answer.succeeded();
    let results = fs::read_to_string(desk.folder.path().join("out.csv")).expect("results");
    assert_eq!(results.lines().count(), 4, "{results}");
    assert_eq!(results.matches("\"succeeded\"").count(), 3, "{results}");
    let named = format!(
        "select count(*) from batches where id = '{}' and name = 'May' and file_names = '{{{{ number }}}}.pdf'",
        id.trim()
    );
    assert_eq!(desk.studio.service.number(&named).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_loads_the_rows_of_a_url() {
    let origin = Origin::start().await;
    let desk = Desk::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let run = |path: &str, format: &[&str]| {
        let url = origin.url(path);
        desk.execute(&[&["run", &url, "--template", &desk.template][..], format].concat())
    };
    let refusal = run("/status/404", &[]).refused();
    assert!(refusal.contains("/url: The file can't be loaded"), "{refusal}");
    let refusal = run("/export", &[]).refused();
    assert!(refusal.contains("/format: Must be"), "{refusal}");
    run("/rows.csv", &[]).succeeded();
    run("/export", &["--format", "csv"]).succeeded();
    let ended = "select count(*) from batches where state = 'ended' and rows = 3";
    assert_eq!(desk.studio.service.number(ended).await, 2);
    let waiting = "select count(*) from batches where state = 'open'";
    assert_eq!(desk.studio.service.number(waiting).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_standard_input_become_documents() {
    let desk = Desk::start().await;
    let arguments = ["run", "-", "--format", "ndjson", "--template", &desk.template];
    let answer = desk.execute_with(&arguments, "{\"number\": 1}\n{\"number\": 2}\n");
    assert!(answer.stderr.contains("2 documents of 2 rows"), "{answer:?}");
    answer.succeeded();
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_is_uploaded_while_it_is_written() {
    let desk = Desk::start().await;
    let (child, mut input) = desk.begin_upload().await;
    // The command ends although its input goes on.
    input.write_all(b"1,2\n3\n").expect("it is read");
    let output = child.wait_with_output().expect("the binary ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("Line 602: The row has 2 fields"), "{stderr}");
    let waiting = "select count(*) from batches where state <> 'cancelled'";
    assert_eq!(desk.studio.service.number(waiting).await, 0);
    drop(input);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_rows_are_stored_goes_on_although_the_response_is_lost() {
    let desk = Desk::start().await;
    desk.write("rows.csv", "number\n1\n2\n");
    let arguments = ["run", "rows.csv", "--template", &desk.template];
    let (_, service) = desk.studio.service.base_url.split_once("//").expect("a host");
    // The first request creates the batch, the second one sends its rows.
    let proxy = FaultProxy::before(service, [Fault::Slow, Fault::AnswerLost]).await;
    let answer = desk.execute_at(&proxy.endpoint(), &arguments, "");
    for text in ["the batch has its rows nevertheless", "2 documents of 2 rows"] {
        assert!(answer.stderr.contains(text), "{text}: {answer:?}");
    }
    answer.succeeded();

    proxy.spoil([Fault::Slow, Fault::Answered(504, "text/html", "<p>")]);
    let answer = desk.execute_at(&proxy.endpoint(), &arguments, "");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stderr.contains("504"), "{answer:?}");
    let states = "select string_agg(state, ' ' order by id) from batches";
    assert_eq!(desk.studio.service.text(states).await, "ended cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_of_an_interrupted_upload_leave_no_batch_that_waits() {
    let desk = Desk::start().await;
    let (child, _input) = desk.begin_upload().await;
    let command = Pid::from_raw(child.id().cast_signed()).expect("a process id");
    kill_process(command, Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("the binary ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("interrupted while the rows were sent"), "{stderr}");
    assert_eq!(desk.studio.service.text("select state from batches").await, "cancelled");
    assert_eq!(desk.studio.service.number(PIECES).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_paused_resumed_and_cancelled() {
    let desk = Desk::start().await;
    let id = desk.begin_endless_batch("{}\n{}\n");
    let id = id.trim();
    desk.execute(&["pause", id]).succeeded();
    let refusal = desk.execute(&["watch", id]).refused();
    assert!(refusal.contains(&format!("platen batch resume {id}")), "{refusal}");
    let resumed = desk.spawn_at(&desk.studio.service.base_url, &["resume", id]);
    let running = "select count(*) from batches where state = 'running' and opened = 2";
    desk.studio.service.number_is(1, running).await;
    desk.execute(&["cancel", id, "--results", "results.csv"]).succeeded();
    let results = fs::read_to_string(desk.folder.path().join("results.csv")).expect("results");
    assert_eq!(results.matches("\"failed\"").count(), 2, "{results}");
    let output = resumed.wait_with_output().expect("the binary ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the batch was cancelled"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_watched_across_outages_of_the_service() {
    let desk = Desk::start().await;
    let (_, service) = desk.studio.service.base_url.split_once("//").expect("a host");
    let id = desk.begin_endless_batch("{}\n");
    let outages = || {
        [
            Fault::Dropped,
            Fault::AnswerCut,
            Fault::Answered(502, "text/html", "<p>"),
        ]
    };
    let proxy = FaultProxy::before(service, [Fault::Slow].into_iter().chain(outages())).await;
    let child = desk.spawn_at(&proxy.endpoint(), &["watch", id.trim()]);
    let are_over = async {
        while proxy.faults_left() > 0 {
            sleep(POLL).await;
        }
    };
    timeout(PATIENCE, are_over).await.expect("it asks again and again");
    desk.execute(&["cancel", id.trim()]).succeeded();
    let output = child.wait_with_output().expect("the binary ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the batch was cancelled"), "{stderr}");

    // Before the first response about the state, and while results are written.
    desk.write("rows.csv", "number\n1\n");
    proxy.spoil([Fault::Slow, Fault::Slow].into_iter().chain(outages()));
    let arguments = ["run", "rows.csv", "--template", &desk.template, "--results", "out.csv"];
    desk.execute_at(&proxy.endpoint(), &arguments, "").succeeded();
    let results = fs::read_to_string(desk.folder.path().join("out.csv")).expect("results");
    assert_eq!(results.lines().count(), 2, "{results}");
    proxy.spoil([Fault::Slow].into_iter().chain(outages()));
    let arguments = ["watch", id.trim(), "--results", "cancelled.csv"];
    let answer = desk.execute_at(&proxy.endpoint(), &arguments, "");
    assert!(answer.stderr.contains("the batch was cancelled"), "{answer:?}");
    assert!(desk.folder.path().join("cancelled.csv").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_rows_are_reported_and_repeated() {
    let desk = Desk::start().await;
    let request = format!(
        r#"{{"parts": [{{"type": "template", "content": {{"template_id": "{}"}}}}],
            "destination": {{"provider": "aws_s3", "bucket": "none", "path": "{{{{ number }}}}.pdf"}}}}"#,
        desk.template
    );
    desk.write("request.json", &request);
    desk.write("rows.ndjson", "{\"number\": 1}\n{\"number\": 2}");
    let answer = desk.execute(&["run", "rows.ndjson", "--request", "request.json"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.stderr.contains("0 documents of 2 rows"), "{answer:?}");
    assert!(answer.stderr.contains("2 rows have no document"), "{answer:?}");
    let id = answer.stdout.trim().to_owned();
    assert!(
        answer.stderr.contains(&format!("platen batch retry {id}")),
        "{answer:?}"
    );
    let answer = desk.execute(&["retry", &id, "--results", "out.csv"]);
    assert!(answer.stderr.contains("2 rows have no document"), "{answer:?}");
    let results = fs::read_to_string(desk.folder.path().join("out.csv")).expect("results");
    assert_eq!(results.matches("\"row_invalid\"").count(), 2, "{results}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_explained_and_leaves_no_batch_that_waits() {
    let desk = Desk::start().await;
    desk.write("rows.csv", "number\n1,2\n");
    desk.write("rows.xlsx", "1");
    desk.write("request.json", "{\"parts\": [\"<p>\"]}");
    let template = desk.template.as_str();
    for (arguments, reason) in [
        (
            &["run", "rows.csv", "--template", template][..],
            "Line 2: The row has 2 fields",
        ),
        (
            &["run", "rows.xlsx", "--template", template],
            "must be a .csv, .tsv, .txt, .ndjson or .jsonl file",
        ),
        (&["run", "-", "--template", template], "--format csv or --format ndjson"),
        (
            &["run", "-", "--format", "csv", "--template", template],
            "standard input: there are no rows",
        ),
        (
            &["run", "/dev/null", "--format", "csv", "--template", template],
            "/dev/null: is not a regular file",
        ),
        (
            &["run", "rows.csv", "--format", "xlsx", "--template", template],
            "must be csv or ndjson",
        ),
        (&["run", "none.csv", "--template", template], "none.csv: "),
        (
            &["run", "rows.csv", "--request", "request.json"],
            "/batch/render/parts: Must have a part that the data of each row completes",
        ),
        (&["run", "rows.csv", "--template", "x"], "must be the id of a template"),
        (&["run", "rows.csv"], "--request"),
        (&["watch", template], "There is no such batch"),
    ] {
        let answer = desk.execute(arguments);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains(reason), "{reason}: {answer:?}");
    }
    let waiting = "select count(*) from batches where state <> 'cancelled'";
    assert_eq!(desk.studio.service.number(waiting).await, 0);
    // Only the rows that the service refused had a batch.
    assert_eq!(desk.studio.service.number("select count(*) from batches").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_goes_on_without_the_command_until_it_is_cancelled() {
    let desk = Desk::start().await;
    let id = desk.begin_endless_batch("{}\n{}\n");
    desk.studio.recorded_under_way(2).await;
    desk.execute(&["cancel", id.trim()]).succeeded();
    desk.studio.recorded_under_way(0).await;
    let answer = desk.execute(&["watch", id.trim()]);
    assert!(answer.stderr.contains("the batch was cancelled"), "{answer:?}");
}
