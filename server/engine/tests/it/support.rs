//! Starts engines for tests, and inspects the documents that they print.

use std::{ops::Deref, path::Path, process::Command, sync::Arc, time::Duration};

use platen_egress::{
    allow::AllowList,
    assets::Assets,
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::SystemResolver,
};
use platen_engine::{
    Engine,
    config::{EngineConfig, RunAs},
    error::{RenderError, RenderProblem},
    job::{Caller, Lane, MediaType, Part, PhaseTimes, PrintSettings, RenderJob, RenderedDocument},
    render_log::{ConsoleMessage, NetworkRequest, RenderLog, Seen},
};
use platen_pdf::OutputFormat;
use tempfile::TempDir;
use uuid::Uuid;

/// Long enough for any render that ends by itself.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// An engine that shuts down when it is dropped.
pub(crate) struct TestEngine {
    pub(crate) engine: Engine,
    profiles: TempDir,
}

/// Returns the settings of a small engine. Its pages reach only public addresses and those in `allow`.
pub(crate) fn config(allow: &str) -> (EngineConfig, TempDir) {
    let profiles = tempfile::Builder::new().prefix("platen-test-").tempdir().unwrap();
    // The browser's user must be able to traverse the directory.
    let passable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(profiles.path(), passable).unwrap();
    let allow: AllowList = allow.parse().unwrap();
    let config = EngineConfig {
        chromium: None,
        sandbox: true,
        browsers: 1,
        slots: 2,
        sessions: 4,
        pages_memory: 4 << 30,
        queue_limit: 16,
        page_memory_limit: 1 << 30,
        renders_per_browser: 1_000_000,
        profile_dir: profiles.path().to_owned(),
        run_as: run_as(),
        guard: Guard::new(
            AddressPolicy::new(allow),
            Arc::new(SystemResolver::default()),
            GuardLimits::default(),
        ),
    };
    (config, profiles)
}

/// A document, and the log of its render.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) document: RenderedDocument,
    pub(crate) requests: Vec<NetworkRequest>,
    pub(crate) console: Vec<ConsoleMessage>,
    pub(crate) phases: PhaseTimes,
}

impl Deref for Rendered {
    type Target = RenderedDocument;

    fn deref(&self) -> &RenderedDocument {
        &self.document
    }
}

impl TestEngine {
    pub(crate) async fn start(allow: &str) -> Self {
        Self::start_with(allow, |_| {}).await
    }

    /// Starts an engine with settings modified by `change`.
    pub(crate) async fn start_with(allow: &str, change: impl FnOnce(&mut EngineConfig)) -> Self {
        let (mut config, profiles) = config(allow);
        change(&mut config);
        Self {
            engine: Engine::start(config).await.unwrap(),
            profiles,
        }
    }

    /// Returns the directory with the profiles of this engine's browsers.
    pub(crate) fn profiles(&self) -> &Path {
        self.profiles.path()
    }

    pub(crate) async fn render(&self, account: Uuid, job: RenderJob) -> Result<Rendered, RenderError> {
        let (log, parts) = (RenderLog::default(), job.parts.len());
        let document = self.render_logged(account, job, &log).await?;
        let Seen {
            requests,
            console,
            phases,
            printed_parts,
        } = log.seen();
        assert_eq!(printed_parts, parts);
        Ok(Rendered {
            document,
            requests,
            console,
            phases,
        })
    }

    /// Renders like [`Self::render`] with a log that the caller can read even if the render fails.
    pub(crate) async fn render_logged(
        &self,
        account: Uuid,
        job: RenderJob,
        log: &RenderLog,
    ) -> Result<RenderedDocument, RenderError> {
        self.render_within(DEADLINE, account, job, log).await
    }

    /// Renders like [`Self::render_logged`] with another deadline.
    pub(crate) async fn render_within(
        &self,
        deadline: Duration,
        account: Uuid,
        job: RenderJob,
        log: &RenderLog,
    ) -> Result<RenderedDocument, RenderError> {
        let caller = Caller {
            account,
            concurrency: 4,
        };
        enter_and_render(&self.engine, caller, job, deadline, log).await
    }

    /// Renders HTML and returns the text of the document. Panics if the render fails.
    pub(crate) async fn text_of(&self, account: Uuid, html: &str) -> String {
        match self.render(account, html_job(html)).await {
            Ok(document) => text(&document.pdf),
            Err(error) => panic!("{error}: {html}"),
        }
    }
}

/// Enters the engine's queue and renders.
pub(crate) async fn enter_and_render(
    engine: &Engine,
    caller: Caller,
    job: RenderJob,
    deadline: Duration,
    log: &RenderLog,
) -> Result<RenderedDocument, RenderError> {
    let entered = engine.enter(caller, Lane::Synchronous, deadline, log).await?;
    entered.render(job, log).await
}

/// Shuts down explicitly, because the runtime would otherwise end the browsers only after their directory is removed,
/// and they would write to it again.
impl Drop for TestEngine {
    fn drop(&mut self) {
        let shutdown = self.engine.shutdown(Duration::ZERO);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(shutdown));
    }
}

/// Returns the user that the setup script creates for the browser, if the test runs as root.
fn run_as() -> Option<RunAs> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !is_root {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let entry = users.lines().find(|line| line.starts_with("platen-browser:"));
    let fields: Vec<&str> = entry
        .expect("deploy/setup.sh creates the user platen-browser")
        .split(':')
        .collect();
    Some(RunAs {
        uid: fields[2].parse().unwrap(),
        gid: fields[3].parse().unwrap(),
    })
}

pub(crate) fn html_job(html: &str) -> RenderJob {
    job(Part::Html(html.to_owned()))
}

pub(crate) fn job(part: Part) -> RenderJob {
    parts_job(vec![part])
}

pub(crate) fn parts_job(parts: Vec<Part>) -> RenderJob {
    RenderJob {
        id: Uuid::now_v7(),
        parts,
        print: PrintSettings {
            paper_width: 210.0 / 25.4,
            paper_height: 297.0 / 25.4,
            margins: [0.0; 4],
            scale: 1.0,
            backgrounds: true,
            prefer_css_page_size: false,
            header_footer: None,
        },
        media: MediaType::Print,
        cookie: None,
        evaluate: None,
        wait_for: None,
        selection: None,
        watermark: None,
        format: OutputFormat::Pdf,
        language: None,
        assets: Assets::default(),
        page_limit: 2_000,
        printed_limit: 512 << 20,
    }
}

/// Returns the error of a render of one part that fails with `problem`.
pub(crate) fn blamed(problem: RenderProblem) -> RenderError {
    RenderError::Problem { part: 0, problem }
}

/// Returns the text of a PDF, with white space collapsed.
pub(crate) fn text(pdf: &[u8]) -> String {
    let text = tool("pdftotext", &[], pdf, &["-"]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word of a PDF with its box, in points from the page's upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// One-based.
    pub(crate) page: usize,
    pub(crate) text: String,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

/// Returns the words of a PDF in reading order.
pub(crate) fn words(pdf: &[u8]) -> Vec<Word> {
    let html = tool("pdftotext", &["-bbox"], pdf, &["-"]);
    let mut page = 0;
    let mut words = Vec::new();
    for line in html.lines().map(str::trim) {
        if line.starts_with("<page ") {
            page += 1;
        }
        let Some(word) = line.strip_prefix("<word ") else {
            continue;
        };
        let number = |name: &str| -> f64 {
            let from = word.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
            word[from..].split('"').next().unwrap().parse().unwrap()
        };
        let text = word[word.find('>').unwrap() + 1..].trim_end_matches("</word>");
        words.push(Word {
            page,
            text: text.to_owned(),
            left: number("xMin"),
            top: number("yMin"),
            right: number("xMax"),
            bottom: number("yMax"),
        });
    }
    words
}

/// Returns the first occurrence of a word; panics if there is none.
pub(crate) fn word(pdf: &[u8], text: &str) -> Word {
    let words = words(pdf);
    let found = words.iter().find(|word| word.text == text);
    found.unwrap_or_else(|| panic!("{text} is not in {words:?}")).clone()
}

/// Returns the output of `pdfinfo` with these options.
pub(crate) fn info(pdf: &[u8], options: &[&str]) -> String {
    tool("pdfinfo", options, pdf, &[])
}

/// Returns the sizes of the first 99 pages in points, rounded.
pub(crate) fn page_sizes(pdf: &[u8]) -> Vec<(i32, i32)> {
    let info = info(pdf, &["-f", "1", "-l", "99"]);
    let sizes = info
        .lines()
        .filter(|line| line.starts_with("Page ") && line.contains(" size:"));
    sizes
        .map(|line| {
            let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            // The page's number comes first.
            (numbers[1].round() as i32, numbers[2].round() as i32)
        })
        .collect()
}

/// Returns the RGB colour of the first page at a position, in points from its upper left corner.
pub(crate) fn colour_at(pdf: &[u8], left: usize, top: usize) -> [u8; 3] {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("page");
    tool(
        "pdftoppm",
        &["-r", "72", "-singlefile"],
        pdf,
        &[image.to_str().unwrap()],
    );
    let ppm = std::fs::read(image.with_extension("ppm")).unwrap();
    // "P6", width, height and depth, each followed by white space, then three bytes per pixel.
    let mut lines = ppm.splitn(4, |&byte| byte == b'\n');
    assert_eq!(lines.next(), Some(b"P6".as_slice()));
    let size = String::from_utf8(lines.next().unwrap().to_vec()).unwrap();
    let width: usize = size.split(' ').next().unwrap().parse().unwrap();
    let pixels = lines.nth(1).unwrap();
    let at = (top * width + left) * 3;
    pixels[at..at + 3].try_into().unwrap()
}

pub(crate) fn tool(name: &str, options: &[&str], pdf: &[u8], more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pdf");
    std::fs::write(&path, pdf).unwrap();
    let output = Command::new(name).args(options).arg(&path).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
