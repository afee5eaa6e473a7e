//! `platen render`: renders one PDF without service or database, with the same engine, options and checks as the API.

mod local_files;

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use platen_core::{
    config::Config,
    lifecycle::Lifecycle,
    render_request::{PartSource, RenderRequest, RenderTerms},
    service::renders::accessibility,
};
use platen_domain::{
    ids::RenderId,
    validation::{
        Problem, Problems,
        json::{self as strict_json, Layout},
        schema,
    },
};
use platen_engine::job::{Caller, Lane, Part, RenderedDocument};
use platen_engine::{error::RenderError, render_log::RenderLog};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    boot::browser,
    cli::{
        failure::Failure,
        progress_line::ProgressLine,
        render::local_files::{LocalFiles, LocalPages},
    },
};

/// Argument that names standard input or output instead of a file.
pub(super) const STANDARD_STREAM: &str = "-";
/// The limit of the smallest plan.
const DEADLINE: Duration = Duration::from_mins(1);
/// Interval at which the progress of a render is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(super) struct Arguments {
    /// HTML file, http:// or https:// address, or - for standard input.
    ///
    /// The page of a file finds images, style sheets and fonts in the file's folder, but no other files of this
    /// machine. HTML from standard input needs --base for that.
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    /// File to which the PDF is written, or - for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// File with options of the API, as JSON: {"size": "a5", "orientation": "landscape"}.
    #[arg(long, value_name = "FILE")]
    options: Option<PathBuf>,
    /// One option of the API, which overrides the file: size=a5, scale=0.8, margin.top=10. May be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    single_options: Vec<String>,
    /// Folder in which pages find files, instead of the folder of each page. Nothing outside of it can be read.
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Let pages read no files, as in the API.
    #[arg(long, conflicts_with = "base")]
    no_local_files: bool,
    /// Write the log to standard error, as set by `PLATEN_LOG`.
    #[arg(long)]
    pub(super) log: bool,
}

/// Renders the document and writes it to the output.
pub(super) async fn execute(arguments: Arguments, mut config: Config) -> Result<(), Failure> {
    let started = Instant::now();
    let mut request =
        RenderRequest::from_value(body(&arguments)?).map_err(|problems| Failure::by_caller(&list(&problems)))?;
    if let Some((name, _)) = request.assets.remote().next() {
        let reason =
            format!("assets: {name}: files are loaded from URLs only by the service; give their content in base64");
        return Err(Failure::by_caller(&reason));
    }
    let demanded = std::mem::take(&mut request.conformance);
    let mut parts = given_parts(std::mem::take(&mut request.parts))?;
    let (local_files, guard) = if arguments.no_local_files {
        (None, browser::guard(&config))
    } else {
        let pages = local_pages(&arguments, &mut parts).await?;
        let (files, guard) = pages.serve(&config.egress.allow)?;
        (Some(files), guard)
    };
    // Handle signals, so that the browser's profile is removed.
    let lifecycle = Lifecycle::default();
    lifecycle.watch_signals()?;
    let progress = ProgressLine::new();
    progress.show("Starting the browser…");
    config.browser.browsers = 1;
    config.browser.slots = 1;
    config.browser.sessions = 1;
    let browsers = browser::start(&config, guard).await?;
    let count = parts.len();
    let terms = RenderTerms {
        id: RenderId::generate(),
        lane: Lane::Synchronous,
        watermark: None,
        deadline: config.limits.sync_deadline.unwrap_or(DEADLINE),
        pages: config.limits.page_limit,
        document_bytes: config.memory.requests(),
    };
    let place = Caller {
        account: Uuid::nil(),
        concurrency: 1,
    };
    let (job, log) = (request.into_job(parts, &terms), RenderLog::default());
    let rendering = async {
        let entered = browsers.engine.enter(place, terms.lane, terms.deadline, &log).await?;
        entered.render(job, &log).await
    };
    let rendered = tokio::select! {
        rendered = rendering => Some(rendered),
        () = follow(&progress, &log, count) => None,
        () = lifecycle.stopping() => None,
    };
    browsers.engine.shutdown(Duration::ZERO).await;
    progress.clear();
    for path in local_files.iter().flat_map(LocalFiles::missing) {
        eprintln!("warning: {path}: there is no such file in the page's folder");
    }
    let document = match rendered {
        Some(Ok(document)) => document,
        Some(Err(error @ RenderError::Problem { .. })) => return Err(Failure::by_caller(&error)),
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Failure::by_machine("interrupted".to_owned())),
    };
    for warning in &document.warnings {
        eprintln!("warning: {} ({})", warning.message, warning.code);
    }
    accessibility::check(&document, &demanded).map_err(|unmet| Failure::by_caller(&list(&unmet.problems())))?;
    write(&arguments.output, &document.pdf)?;
    if progress.is_drawn {
        describe(&arguments.output, &document, started.elapsed());
    }
    Ok(())
}

/// Templates are stored in the service's database, which this command doesn't use.
fn given_parts(parts: Vec<PartSource>) -> Result<Vec<Part>, Failure> {
    let given = parts.into_iter().map(|part| match part {
        PartSource::Given(part) => Ok(part),
        PartSource::Template(_) => Err(Failure::by_caller(
            &"templates require the service: send the request to POST /api/v1/renderers/pdf",
        )),
    });
    given.collect()
}

/// Gives pages of files an address at which they find the files of their folder.
async fn local_pages(arguments: &Arguments, parts: &mut [Part]) -> Result<LocalPages, Failure> {
    let mut pages = LocalPages::bind().await?;
    for (source, part) in arguments.sources.iter().zip(parts) {
        let file = (source != STANDARD_STREAM).then_some(Path::new(source));
        // Of a name without folders the parent is empty.
        let parent = file.and_then(|file| Path::new(".").join(file).parent().map(Path::to_owned));
        let folder = arguments.base.as_deref().or(parent.as_deref());
        if let (Part::Html(html), Some(folder)) = (&mut *part, folder) {
            *part = Part::Url(pages.add(std::mem::take(html), file, folder)?);
        }
    }
    Ok(pages)
}

/// Returns the equivalent request body of the API.
fn body(arguments: &Arguments) -> Result<Value, Failure> {
    let mut body = match &arguments.options {
        Some(file) => read_options(file)?,
        None => Map::new(),
    };
    for option in &arguments.single_options {
        let Some((name, value)) = option.split_once('=') else {
            return Err(Failure::by_caller(&format!("--option takes NAME=VALUE; got {option}")));
        };
        set(&mut body, name, value);
    }
    for given in ["parts", "output_encoding"] {
        if body.contains_key(given) {
            let message = format!("{given} is not an option of this command: use SOURCE and --output");
            return Err(Failure::by_caller(&message));
        }
    }
    let parts = arguments
        .sources
        .iter()
        .map(|source| part(source))
        .collect::<Result<Vec<_>, _>>()?;
    body.insert("parts".into(), parts.into());
    body.insert("output_encoding".into(), "binary".into());
    Ok(body.into())
}

fn read_options(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = std::fs::read(file).map_err(|error| Failure::by_caller(&format!("{}: {error}", file.display())))?;
    let mut problems = Problems::default();
    match strict_json::parse(&text, &Layout::PLAIN, &mut problems).map(|body| body.value) {
        Some(Value::Object(options)) if problems.is_empty() => Ok(options),
        value => {
            let problems = problems.sorted(&value.unwrap_or_default());
            let reason = if problems.is_empty() {
                "must be an object".into()
            } else {
                list(&problems)
            };
            Err(Failure::by_caller(&format!("{}: {reason}", file.display())))
        }
    }
}

/// Sets a member by its dotted name. If the API expects a string the value is a string, otherwise JSON if it parses as
/// such.
fn set(options: &mut Map<String, Value>, name: &str, value: &str) {
    let value = if schema::takes_text("SynchronousRender", name) {
        value.into()
    } else {
        serde_json::from_str(value).unwrap_or_else(|_| value.into())
    };
    let mut object = options;
    let mut steps = name.split('.').peekable();
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            object.insert(step.into(), value);
            return;
        }
        let member = object.entry(step).or_insert_with(|| json!({}));
        if !member.is_object() {
            *member = json!({});
        }
        let Value::Object(inner) = member else { return };
        object = inner;
    }
}

fn part(source: &str) -> Result<Value, Failure> {
    if source.starts_with("http://") || source.starts_with("https://") {
        return Ok(json!({"type": "url", "content": source}));
    }
    let (name, html) = if source == STANDARD_STREAM {
        let mut html = Vec::new();
        ("standard input", io::stdin().read_to_end(&mut html).map(|_| html))
    } else {
        (source, std::fs::read(source))
    };
    let html = html.map_err(|error| Failure::by_caller(&format!("{name}: {error}")))?;
    let html = String::from_utf8(html).map_err(|_| Failure::by_caller(&format!("{name}: the HTML is not in UTF-8")))?;
    Ok(json!({"type": "html", "content": html}))
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.pointer, problem.detail))
        .collect();
    lines.join("\n        ")
}

fn write(output: &Path, pdf: &[u8]) -> Result<(), Failure> {
    if output.as_os_str() == STANDARD_STREAM {
        let mut stdout = io::stdout().lock();
        stdout.write_all(pdf)?;
        return Ok(stdout.flush()?);
    }
    std::fs::write(output, pdf).map_err(|error| Failure::by_caller(&format!("{}: {error}", output.display())))
}

/// Shows the part that is being rendered, out of `count`, until it is cancelled.
async fn follow(progress: &ProgressLine, log: &RenderLog, count: usize) {
    let mut interval = tokio::time::interval(PROGRESS_INTERVAL);
    loop {
        interval.tick().await;
        progress.show(status(log.printed_parts(), count));
    }
}

/// Describes the document, where progress was shown.
fn describe(output: &Path, document: &RenderedDocument, took: Duration) {
    let pages = match document.page_count {
        1 => "1 page".to_owned(),
        several => format!("{several} pages"),
    };
    let kilobytes = document.pdf.len().div_ceil(1000);
    eprintln!(
        "{}: {pages}, {kilobytes} kB in {:.1} s",
        output.display(),
        took.as_secs_f64()
    );
}

/// Returns the progress line of a render with `count` parts, of which `printed` have been printed.
fn status(printed: usize, count: usize) -> String {
    match (printed, count) {
        (_, 1) => "Rendering…".to_owned(),
        (printed, count) if printed == count => "Assembling the document…".to_owned(),
        (printed, count) => format!("Rendering part {} of {count}…", printed + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, &str)]) -> Value {
        let mut options = Map::new();
        for (name, value) in given {
            set(&mut options, name, value);
        }
        options.into()
    }

    #[test]
    fn options_are_json_where_they_read_as_such_and_the_api_takes_no_text() {
        let given = options(&[
            ("size", "a5"),
            ("scale", "0.5"),
            ("pages", "1"),
            ("prefer_css_page_size", "true"),
            ("set_cookie.value", "null"),
            ("evaluate_js.expression", "1"),
            ("bogus", "[1]"),
        ]);
        let expected = json!({
            "size": "a5",
            "scale": 0.5,
            "pages": "1",
            "prefer_css_page_size": true,
            "set_cookie": {"value": "null"},
            "evaluate_js": {"expression": "1"},
            "bogus": [1],
        });
        assert_eq!(given, expected);
    }

    #[test]
    fn progress_is_shown_by_part() {
        let lines = |count| (0..=count).map(|printed| status(printed, count)).collect::<Vec<_>>();
        assert_eq!(lines(1), ["Rendering…", "Rendering…"]);
        assert_eq!(
            lines(2),
            [
                "Rendering part 1 of 2…",
                "Rendering part 2 of 2…",
                "Assembling the document…"
            ]
        );
    }

    #[test]
    fn dotted_names_reach_into_objects_and_the_last_word_counts() {
        let given = options(&[
            ("margin.top", "1"),
            ("margin.unit", "in"),
            ("margin.top", "2"),
            ("size", "a5"),
            ("size.width", "100"),
        ]);
        assert_eq!(
            given,
            json!({"margin": {"top": 2, "unit": "in"}, "size": {"width": 100}})
        );
    }
}
