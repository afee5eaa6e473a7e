//! Prints the corpus.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::{StreamExt, stream};
use platen_engine::{
    job::{HeaderFooter, RenderJob},
    render_log::RenderLog,
};
use platen_pdf::{OutputFormat, PageSelection, Watermark};
use uuid::Uuid;

use crate::support::{TestEngine, html_job};

/// A page whose extreme lengths print 19,926 pages, of which only the first are compared.
const LONG: (&str, &str) = ("numbers-extreme.html", "1-3");
const PAGE_LIMIT: usize = 20_000;
/// Maximum time for one page: that one takes long beside other tests.
const LONGEST_PRINT: Duration = Duration::from_mins(3);
/// Pages with text, without text, with images, tags of all kinds, transparency, margin boxes, several page sizes.
const DECORATED: [&str; 7] = [
    "text.html",
    "empty.html",
    "images.html",
    "tags.html",
    "blend.html",
    "page-boxes.html",
    "named-pages.html",
];
/// Concurrent renders; enough that a page that waits for something leaves no slot unused.
const CONCURRENT: usize = 4;

/// A page of the corpus as the browser printed it, changed only in its metadata.
pub(super) struct Printed {
    /// Name of the HTML file.
    pub(super) name: String,
    pub(super) pdf: Vec<u8>,
    pub(super) title: Option<String>,
    /// The pages to convert to PDF/A; `None` for all.
    pub(super) selection: Option<PageSelection>,
}

/// Prints each page of the corpus once, ordered by name.
pub(super) async fn print_corpus(engine: &TestEngine) -> Vec<Printed> {
    let account = Uuid::now_v7();
    stream::iter(pages())
        .map(|file| print(engine, account, file))
        .buffered(CONCURRENT)
        .collect()
        .await
}

async fn print(engine: &TestEngine, account: Uuid, file: PathBuf) -> Printed {
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let mut job = job(&file);
    job.page_limit = PAGE_LIMIT;
    let log = RenderLog::default();
    match engine.render_within(LONGEST_PRINT, account, job, &log).await {
        Ok(document) => Printed {
            selection: (name == LONG.0).then(|| PageSelection::parse(LONG.1).expect("a selection")),
            name,
            pdf: document.pdf,
            title: document.title,
        },
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Writes some pages as PDF/A documents of the engine, alone and joined, with header and footer, most with a watermark.
/// Returns the files.
pub(super) async fn write_decorated(engine: &TestEngine, to: &Path) -> Vec<PathBuf> {
    let jobs: Vec<RenderJob> = DECORATED.iter().map(|name| job(&folder().join(name))).collect();
    let together = RenderJob {
        parts: jobs.iter().flat_map(|job| job.parts.clone()).collect(),
        ..jobs[0].clone()
    };
    let mut written = Vec::new();
    let jobs = DECORATED.into_iter().zip(jobs).chain([("together", together)]);
    let watermarks = [None, Some(Watermark::Test), Some(Watermark::Preview)];
    for ((name, mut job), watermark) in jobs.zip(watermarks.into_iter().cycle()) {
        job.watermark = watermark;
        job.format = OutputFormat::PdfA2b;
        job.print.margins = [0.8, 0.4, 0.8, 0.4];
        job.print.header_footer = Some(HeaderFooter {
            header: "<b class=title></b> <i class=date></i> &#xE123; <a href=https://example.com/>link</a>".to_owned(),
            footer: "<p style='color: rgba(200, 0, 0, .5)'><span class=pageNumber></span></p>".to_owned(),
        });
        let document = engine.render(Uuid::now_v7(), job).await;
        let document = document.unwrap_or_else(|error| panic!("{name}: {error}"));
        let file = to.join(format!("{name}.decorated.pdf"));
        fs::write(&file, &document.pdf).unwrap();
        written.push(file);
    }
    written
}

/// Returns all pages of the corpus, ordered by name.
pub(crate) fn pages() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut pages: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|kind| kind == "html"))
        .collect();
    assert!(pages.len() >= 100, "only {} pages", pages.len());
    pages.sort();
    pages
}

/// Returns a job that prints a page with its own page size.
pub(crate) fn job(file: &Path) -> RenderJob {
    let mut job = html_job(&fs::read_to_string(file).unwrap());
    job.print.prefer_css_page_size = true;
    job
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pdf/tests/corpus")
}
