//! `platen batch …`: renders a document for each row of a file, with the API of a running service.

use std::{
    fs::{self, File},
    io::{self, BufRead},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use clap::{ArgGroup, Args, Subcommand};
use futures::{Stream, stream};
use platen_domain::{
    batch::RowFormat,
    ids::{BatchId, TemplateId},
    number::{counted, grouped},
};
use reqwest::{Body, Method, RequestBuilder, Response, header};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::sleep};
use tokio_util::io::ReaderStream;

use crate::cli::{
    client::{Client, ClientError, Data, ServerArgument},
    failure::Failure,
    progress_line::ProgressLine,
    render::STANDARD_STREAM,
};

const BATCHES: &str = "/api/v1/batches";
/// State of a batch that waits for its rows.
const OPEN: &str = "open";
const CANCELLED: &str = "cancelled";
const SCOPES: &str = "render and renders:read";
/// The shortest and the longest time between two requests for the state of a batch, which leave most of the 60 requests a minute of the
/// smallest plan to others.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(5);
/// How long the service may be unreachable while a batch is watched, such as during a restart.
const LONGEST_OUTAGE: Duration = Duration::from_mins(5);
/// Maximum duration of an upload: 1 GiB with the lowest rate that the service allows.
const LONGEST_UPLOAD: Duration = Duration::from_hours(3);
/// Width of the progress bar in characters.
const BAR: usize = 30;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a batch, upload its rows, and wait for their documents.
    ///
    /// Ctrl-C ends the command, not the batch.
    Run(RunArguments),
    /// Wait for the documents of a batch.
    Watch(BatchArguments),
    /// Render the failed rows of a batch once more, and wait for them.
    Retry(BatchArguments),
    /// Begin no more rows of a batch until it is resumed. Its renders that have begun go on.
    Pause(ActionArguments),
    /// Continue a paused batch, and wait for its documents.
    Resume(BatchArguments),
    /// Begin no more rows of a batch, and cancel its renders that have not ended.
    Cancel(BatchArguments),
}

#[derive(Args)]
#[command(group(ArgGroup::new("render").required(true).args(["template", "request"])))]
pub(super) struct RunArguments {
    /// File with the rows: *.csv, *.tsv or *.txt, whose first line names the members, or *.ndjson or *.jsonl with a JSON object in
    /// each line. Or its https:// URL, from which the service loads it, or - for standard input, which is sent while it is read.
    rows: PathBuf,
    /// Format of the rows: csv or ndjson. Required for standard input, for a file whose name doesn't tell it, and for a URL if neither
    /// its Content-Type nor its name tells it.
    #[arg(long, value_parser = row_format)]
    format: Option<RowFormat>,
    /// Id of the template that the rows fill.
    #[arg(long, value_name = "ID", value_parser = template_id)]
    template: Option<TemplateId>,
    /// File with the request that each row completes, as JSON: {"parts": […], "destination": {…, "path": "{{ number }}.pdf"}}.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Label of the batch.
    #[arg(long, default_value = "")]
    name: String,
    /// Names of the documents in the ZIP archive of a batch without a destination, such as "{{ customer.name }}/{{ number }}.pdf".
    #[arg(long, value_name = "PATTERN")]
    file_names: Option<String>,
    /// Don't wait for the documents.
    #[arg(long, conflicts_with = "results")]
    detach: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: ServerArgument,
}

#[derive(Args)]
pub(super) struct BatchArguments {
    /// Id of the batch.
    #[arg(value_parser = batch_id)]
    batch: BatchId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: ServerArgument,
}

#[derive(Args)]
pub(super) struct ActionArguments {
    /// Id of the batch.
    #[arg(value_parser = batch_id)]
    batch: BatchId,
    #[command(flatten)]
    server: ServerArgument,
}

#[derive(Args)]
struct Output {
    /// File to which the outcomes of all rows are written as CSV.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// A batch, as the API shows it.
#[derive(Deserialize)]
struct Batch {
    id: BatchId,
    state: String,
    hold: Option<String>,
    rows: i64,
    opened: i64,
    succeeded: i64,
    failed: i64,
}

impl Batch {
    /// Returns whether to wait for more rows: those of a cancelled batch end soon, those of a paused one may take long, and those of
    /// one without its key only go on if they are queued.
    fn goes_on(&self) -> bool {
        let has_queued = self.succeeded + self.failed < self.opened;
        self.state == "running" && (!self.lacks_key() || has_queued) || self.state == CANCELLED && has_queued
    }

    fn lacks_key(&self) -> bool {
        self.hold.as_deref() == Some("key")
    }
}

/// Where the rows are.
enum Rows<'a> {
    File {
        path: &'a Path,
        format: RowFormat,
        /// In bytes.
        length: u64,
    },
    StandardInput {
        format: RowFormat,
    },
    /// A file that the service loads.
    Url {
        url: &'a str,
        format: Option<RowFormat>,
    },
}

impl<'a> Rows<'a> {
    /// Returns the rows that the arguments name. Waits until standard input has begun.
    fn of(arguments: &'a RunArguments) -> Result<Self, Failure> {
        let (place, format) = (&arguments.rows, arguments.format);
        let is_url = |place: &&str| place.starts_with("https://") || place.starts_with("http://");
        if let Some(url) = place.to_str().filter(is_url) {
            return Ok(Self::Url { url, format });
        }
        if place.as_os_str() == STANDARD_STREAM {
            let format = format.ok_or_else(|| {
                Failure::by_caller(&"standard input: name the format of the rows with --format csv or --format ndjson")
            })?;
            // Waits for the first bytes, because an upload that begins without them is soon refused as too slow.
            let has_rows = io::stdin().lock().fill_buf().map(|bytes| !bytes.is_empty());
            return match has_rows {
                Ok(true) => Ok(Self::StandardInput { format }),
                Ok(false) => Err(Failure::by_caller(&"standard input: there are no rows")),
                Err(error) => Err(Failure::by_machine(format!("standard input: {error}"))),
            };
        }
        let format = format.or_else(|| RowFormat::of_file_name(&place.to_string_lossy()));
        let format = format.ok_or_else(|| {
            Failure::by_caller(&format!(
                "{}: must be a .csv, .tsv, .txt, .ndjson or .jsonl file; name another one's format with --format",
                place.display()
            ))
        })?;
        // A pipe has no length, and can't be opened and read again if the upload is repeated.
        if fs::metadata(place).is_ok_and(|found| !found.is_file()) {
            return Err(Failure::by_caller(&format!(
                "{}: is not a regular file; send its content through standard input, as -",
                place.display()
            )));
        }
        Ok(Self::File {
            path: place,
            format,
            length: open(place)?.metadata()?.len(),
        })
    }

    /// Sends the rows to a path of the API.
    async fn send(&self, client: &Client, path: &str) -> Result<Response, ClientError> {
        let attach = |request| self.attach(request);
        match self {
            // What was sent can't be read again.
            Self::StandardInput { .. } => client.send_once(Method::PUT, path, attach).await,
            Self::File { .. } | Self::Url { .. } => client.send(Method::PUT, path, attach).await,
        }
    }

    /// Adds the rows to the request for them.
    fn attach(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.timeout(LONGEST_UPLOAD);
        match self {
            Self::Url { url, format: None } => request.json(&json!({ "url": url })),
            Self::Url {
                url,
                format: Some(format),
            } => request.json(&json!({ "url": url, "format": format })),
            Self::StandardInput { format } => request
                .header(header::CONTENT_TYPE, format.media_type())
                .body(Body::wrap_stream(standard_input())),
            Self::File { path, format, length } => {
                let request = request.header(header::CONTENT_TYPE, format.media_type());
                match open(path) {
                    Ok(file) => {
                        let stream = ReaderStream::new(tokio::fs::File::from_std(file));
                        request
                            .header(header::CONTENT_LENGTH, *length)
                            .body(Body::wrap_stream(stream))
                    }
                    // The service refuses a file without rows.
                    Err(_) => request,
                }
            }
        }
    }
}

/// Streams standard input. It is read on a separate thread, because the runtime's shutdown would wait for a blocked read.
fn standard_input() -> impl Stream<Item = io::Result<Bytes>> {
    let (sender, mut receiver) = mpsc::channel(1);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut read = || -> io::Result<Option<Bytes>> {
            let piece = Bytes::copy_from_slice(input.fill_buf()?);
            input.consume(piece.len());
            Ok((!piece.is_empty()).then_some(piece))
        };
        while let Some(piece) = read().transpose() {
            if sender.blocking_send(piece).is_err() {
                // The upload has ended.
                break;
            }
        }
    });
    stream::poll_fn(move |context| receiver.poll_recv(context))
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run(&arguments).await,
        Command::Watch(BatchArguments { batch, output, server }) => {
            watch(&server.client(SCOPES)?, batch, &output, Outages::default()).await
        }
        Command::Retry(arguments) => act_and_watch("retry", &arguments).await,
        Command::Resume(arguments) => act_and_watch("resume", &arguments).await,
        Command::Pause(ActionArguments { batch, server }) => act(&server.client(SCOPES)?, batch, "pause").await,
        Command::Cancel(BatchArguments { batch, output, server }) => {
            let client = server.client(SCOPES)?;
            act(&client, batch, "cancel").await?;
            if output.results.is_none() {
                return Ok(());
            }
            let progress = ProgressLine::new();
            let ended = wait(&client, batch, &progress, &output, Outages::new()).await;
            progress.clear();
            ended.map(drop)
        }
    }
}

async fn act_and_watch(action: &str, arguments: &BatchArguments) -> Result<(), Failure> {
    let BatchArguments { batch, output, server } = arguments;
    let client = server.client(SCOPES)?;
    act(&client, *batch, action).await?;
    watch(&client, *batch, output, Outages::new()).await
}

async fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let client = arguments.server.client(SCOPES)?;
    let mut body = json!({ "batch": { "name": arguments.name, "render": request(arguments)? } });
    if let Some(pattern) = &arguments.file_names {
        body["batch"]["file_names"] = pattern.as_str().into();
    }
    // Before a batch is created for them.
    let rows = Rows::of(arguments)?;
    let created = client.send(Method::POST, BATCHES, |request| request.json(&body)).await;
    let created = created.map_err(|error| failure(&error))?;
    let Data { data: Batch { id, .. } } = client.read(created).await?;
    let path = format!("{BATCHES}/{id}/rows");
    let sent = tokio::select! {
        sent = rows.send(&client, &path) => sent.map(drop).map_err(|error| failure(&error)),
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            Err(Failure::by_machine("interrupted while the rows were sent".to_owned()))
        }
    };
    if let Err(failed) = sent {
        // The response may be lost although the rows are stored, or be that of a proxy.
        match find(&client, id).await {
            Ok(batch) if batch.state == OPEN => {
                // It would only wait for its rows.
                let _ = act(&client, id, "cancel").await;
                return Err(failed);
            }
            Ok(batch) if batch.state == CANCELLED => return Err(failed),
            Ok(_) => eprintln!("platen: {failed}\nplaten: the batch has its rows nevertheless, and goes on"),
            Err(_) => {
                return Err(Failure::by_machine(format!(
                    "{failed}\nplaten: the batch may have its rows nevertheless: see platen batch watch {id}"
                )));
            }
        }
    }
    println!("{id}");
    if arguments.detach {
        return Ok(());
    }
    watch(&client, id, &arguments.output, Outages::new()).await
}

/// Returns the request that each row completes.
fn request(arguments: &RunArguments) -> Result<Value, Failure> {
    let Some(path) = &arguments.request else {
        let template = json!({ "template_id": arguments.template });
        return Ok(json!({ "parts": [{ "type": "template", "content": template }] }));
    };
    let text = fs::read(path).map_err(|error| Failure::by_caller(&format!("{}: {error}", path.display())))?;
    serde_json::from_slice(&text).map_err(|error| Failure::by_caller(&format!("{}: {error}", path.display())))
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::by_caller(&format!("{}: {error}", path.display())))
}

async fn find(client: &Client, id: BatchId) -> Result<Batch, ClientError> {
    let path = format!("{BATCHES}/{id}");
    let response = client.send(Method::GET, &path, |request| request).await?;
    let Data { data } = client.read(response).await?;
    Ok(data)
}

async fn act(client: &Client, batch: BatchId, action: &str) -> Result<(), Failure> {
    let path = format!("{BATCHES}/{batch}/{action}");
    let done = client.send(Method::POST, &path, |request| request).await;
    done.map(drop).map_err(|error| failure(&error))
}

/// When the service has last responded, while a batch is watched.
#[derive(Default)]
struct Outages(Option<Instant>);

impl Outages {
    /// Of a service that has just responded.
    fn new() -> Self {
        Self(Some(Instant::now()))
    }

    fn responded(&mut self) {
        *self = Self::new();
    }

    /// Waits before a request is repeated. Fails if its error won't pass, if the service has never responded, or has not for too long.
    async fn wait(&self, error: ClientError, batch: BatchId, before: Duration) -> Result<(), Failure> {
        let Some(responded) = self.0.filter(|_| error.may_pass()) else {
            return Err(failure(&error));
        };
        if responded.elapsed() > LONGEST_OUTAGE {
            let reason = format!("{error}\nplaten: the batch goes on nevertheless; see platen batch watch {batch}");
            return Err(Failure::by_machine(reason));
        }
        sleep(before).await;
        Ok(())
    }
}

/// Shows the progress of a batch until it has ended, and then the errors of its rows.
async fn watch(client: &Client, batch: BatchId, output: &Output, outages: Outages) -> Result<(), Failure> {
    let progress = ProgressLine::new();
    let ended = tokio::select! {
        ended = wait(client, batch, &progress, output, outages) => ended,
        interrupted = tokio::signal::ctrl_c() => {
            progress.clear();
            interrupted?;
            return Err(Failure::by_machine(format!("the batch goes on; see platen batch watch {batch}")));
        }
    };
    progress.clear();
    let ended = ended?;
    let lacks_key = ended.lacks_key();
    let Batch {
        state,
        rows,
        succeeded,
        failed,
        ..
    } = ended;
    eprintln!(
        "platen: {} of {}",
        counted(succeeded, "document", "documents"),
        counted(rows, "row", "rows")
    );
    match (&*state, failed) {
        (CANCELLED, _) => Err(Failure::by_caller(&"the batch was cancelled")),
        ("paused", _) => Err(Failure::by_caller(&format!(
            "the batch is paused: continue it with platen batch resume {batch}"
        ))),
        (OPEN, _) => Err(Failure::by_caller(&"the batch waits for its rows")),
        ("running", _) if lacks_key => Err(Failure::by_caller(&format!(
            "the batch's API key is no longer valid: cancel it with platen batch cancel {batch}, and create another batch with the \
             rows that have no document"
        ))),
        (_, 0) => Ok(()),
        (_, failed) => {
            let failed = counted(failed, "row has", "rows have");
            let advice = "write their errors to a file with --results, and render them once more with";
            Err(Failure::by_caller(&format!(
                "{failed} no document: {advice} platen batch retry {batch}"
            )))
        }
    }
}

/// Waits until no more documents of a batch are made, and writes the results.
async fn wait(
    client: &Client,
    id: BatchId,
    line: &ProgressLine,
    output: &Output,
    mut outages: Outages,
) -> Result<Batch, Failure> {
    let (began, mut first) = (Instant::now(), None);
    loop {
        let error = match find(client, id).await {
            Ok(batch) if batch.goes_on() => {
                outages.responded();
                let done = batch.succeeded + batch.failed;
                let since = done - *first.get_or_insert(done);
                line.show(progress(&batch, since, began.elapsed()));
                sleep(interval(began.elapsed())).await;
                continue;
            }
            Ok(batch) => {
                // Results that can't be had count as an outage, too.
                outages.0.get_or_insert_with(Instant::now);
                let Some(path) = &output.results else { return Ok(batch) };
                match load_results(client, id).await {
                    Ok(results) => {
                        write_results(path, &results)?;
                        return Ok(batch);
                    }
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        line.show("the service is unreachable, trying again");
        outages.wait(error, id, interval(began.elapsed())).await?;
    }
}

/// Returns the time until the next request for the state of a batch that has been watched for `elapsed`: a tenth of it.
fn interval(elapsed: Duration) -> Duration {
    (elapsed / 10).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL)
}

/// Returns the line that shows the progress of a batch, of which `since` rows have ended in `elapsed`.
fn progress(batch: &Batch, since: i64, elapsed: Duration) -> String {
    let done = batch.succeeded + batch.failed;
    let share = done as f64 / batch.rows.max(1) as f64;
    let filled = ((share * BAR as f64) as usize).min(BAR);
    let bar = "#".repeat(filled) + &"-".repeat(BAR - filled);
    let failed = match batch.failed {
        0 => String::new(),
        failed => format!(", {} failed", grouped(failed)),
    };
    let pace = since as f64 / elapsed.as_secs_f64().max(f64::EPSILON);
    let rest = match batch.hold.as_deref() {
        Some("credits") => ", waiting for credits".to_owned(),
        Some("storage") => ", waiting for storage".to_owned(),
        Some(_) => ", waiting: its API key is no longer valid".to_owned(),
        None if pace >= 0.1 => {
            let all = if batch.state == CANCELLED {
                batch.opened
            } else {
                batch.rows
            };
            let left = ((all - done) as f64 / pace).ceil() as u64;
            format!(", {pace:.0}/s, {}:{:02} left", left / 60, left % 60)
        }
        None => String::new(),
    };
    format!("[{bar}] {} of {}{failed}{rest}", grouped(done), grouped(batch.rows))
}

async fn load_results(client: &Client, batch: BatchId) -> Result<Vec<u8>, ClientError> {
    let address = format!("{BATCHES}/{batch}/results?format=csv");
    let response = client.send(Method::GET, &address, |request| request).await?;
    client.bytes(response).await
}

fn write_results(path: &Path, results: &[u8]) -> Result<(), Failure> {
    fs::write(path, results).map_err(|error| Failure::by_caller(&format!("{}: {error}", path.display())))
}

fn failure(error: &ClientError) -> Failure {
    match error {
        ClientError::Refused { status, .. } if status.is_client_error() => Failure::by_caller(error),
        _ => Failure::by_machine(error.to_string()),
    }
}

fn row_format(text: &str) -> Result<RowFormat, &'static str> {
    RowFormat::named(text).ok_or("must be csv or ndjson")
}

fn template_id(text: &str) -> Result<TemplateId, &'static str> {
    TemplateId::parse(text).ok_or("must be the id of a template, as in its address")
}

fn batch_id(text: &str) -> Result<BatchId, &'static str> {
    BatchId::parse(text).ok_or("must be the id of a batch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_watched_with_few_requests() {
        let seconds = Duration::from_secs;
        for (elapsed, expected) in [(0, 1), (9, 1), (30, 3), (3_600, 5)] {
            assert_eq!(interval(seconds(elapsed)), seconds(expected), "{elapsed}");
        }
        let (mut elapsed, mut requests) = (Duration::ZERO, 0);
        while elapsed < seconds(60) {
            requests += 1;
            elapsed += interval(elapsed);
        }
        assert!(requests <= 30, "{requests} in the first minute");
    }

    #[test]
    fn progress_shows_pace_and_holds() {
        let batch = |hold: Option<&str>| Batch {
            id: BatchId::generate(),
            state: "running".to_owned(),
            hold: hold.map(ToOwned::to_owned),
            rows: 12_000,
            opened: 3_500,
            succeeded: 2_998,
            failed: 2,
        };
        let elapsed = Duration::from_secs(20);
        assert_eq!(
            progress(&batch(None), 2_000, elapsed),
            "[#######-----------------------] 3,000 of 12,000, 2 failed, 100/s, 1:30 left"
        );
        assert_eq!(
            progress(&batch(Some("credits")), 0, elapsed),
            "[#######-----------------------] 3,000 of 12,000, 2 failed, waiting for credits"
        );
    }
}
