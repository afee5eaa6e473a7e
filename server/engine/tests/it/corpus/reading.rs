//! What other readers of structure trees, Poppler and pdf.js, find in the pages of the corpus: the text in the order of the page's
//! source, and the headers of tables with their scopes.

use std::{collections::HashMap, fs, path::Path, process::Command};

use futures::{StreamExt, stream};
use platen_pdf::{OutputFormat, PageSelection};
use tempfile::TempDir;
use uuid::Uuid;

use super::print;
use crate::support::{TestEngine, info};

/// Writes to the console, which stores 100 messages of 500 characters: the numbers of header cells with a text in tables
/// of several rows, of all, of those with the scope of a row and of a column; and the rendered text in the order of the source.
const WRITE_SOURCE: &str = "const headers = [...document.querySelectorAll('th')].filter((cell) => cell.checkVisibility()); \
    const scoped = (scope) => headers.filter((cell) => cell.scope.startsWith(scope)).length; \
    const certain = headers.filter((cell) => cell.innerText.trim() && cell.closest('table').rows.length > 1); \
    console.log('headers:' + [certain.length, headers.length, scoped('row'), scoped('col')]); \
    const text = (document.body?.innerText ?? '').replace(/\\s+/g, ''); \
    for (let at = 0; at < text.length; at += 450) console.log('text:' + text.slice(at, at + 450))";
/// Letters of a source of which each reader must find some text.
const LONG_SOURCE: usize = 20;
/// Shorter texts may be anywhere in the source.
const LEAST_LENGTH: usize = 4;
/// Minimum number of texts that are found in the source, by each reader. The others are generated, in a frame or a field, or written
/// with ligatures.
const LEAST_FOUND: usize = 1_250;
/// Pages whose size PDF/A doesn't allow, and one of 20,000 pages.
const UNSUITABLE: [&str; 3] = ["numbers-extreme.html", "page-huge.html", "page-tiny.html"];
/// Pages with so much tagged content that Poppler takes long, because it follows the page once for each: it reads their first page alone.
const SLOW: [&str; 5] = [
    "heat-map.html",
    "invoice-long.html",
    "many-pages.html",
    "many-structure.html",
    "timetable.html",
];
/// A page with tagged content in forms, which pdf.js takes for that of the page with the same number.
const WITH_FORMS: &str = "timetable.html";
/// Texts that Poppler reads elsewhere: the browser puts HTML in an SVG image before the image's own text. pdf.js reads none there.
const ELSEWHERE: [(&str, &[&str]); 1] = [(
    "svg-effects.html",
    &["CLIP", "TextalongapathwithtspanturnedOutlinedGradient"],
)];
/// Concurrent renders.
const CONCURRENT: usize = 4;

/// What a page contains.
struct Source {
    name: String,
    /// Its letters and digits.
    text: String,
    headers: Headers,
}

/// Numbers of header cells.
#[derive(Debug)]
struct Headers {
    /// Those with a text in tables of several rows. The browser may take others for layout.
    certain: usize,
    all: usize,
    of_rows: usize,
    of_columns: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_read_in_the_order_of_its_source() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let folder = TempDir::new().unwrap();
    let pages = print::pages().into_iter().filter_map(|file| {
        let name = file.file_name()?.to_str()?.to_owned();
        (!UNSUITABLE.contains(&name.as_str())).then_some((name, file))
    });
    let read = stream::iter(pages).map(async |(name, file)| {
        let mut job = print::job(&file);
        job.evaluate = Some(WRITE_SOURCE.to_owned());
        job.format = OutputFormat::PdfA2b;
        let render = async |job| {
            let rendered = engine.render(account, job).await;
            rendered.unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let rendered = render(job.clone()).await;
        let written = |prefix: &str| {
            let messages = rendered.console.iter();
            messages
                .filter_map(|message| message.text.strip_prefix(prefix))
                .collect::<String>()
        };
        let headers = written("headers:");
        let headers: Vec<usize> = headers.split(',').map(|number| number.parse().unwrap()).collect();
        let [certain, all, of_rows, of_columns] = headers[..] else {
            panic!("{name}: {headers:?}")
        };
        let source = Source {
            text: letters(&written("text:")),
            headers: Headers {
                certain,
                all,
                of_rows,
                of_columns,
            },
            name: name.clone(),
        };
        fs::write(folder.path().join(&source.name), &rendered.pdf).unwrap();
        let tree = info(&rendered.pdf, &["-struct"]);
        assert_headers(&tree, &source);
        let texts = if SLOW.contains(&name.as_str()) {
            job.selection = PageSelection::parse("1").ok();
            info(&render(job).await.pdf, &["-struct-text"])
        } else {
            info(&rendered.pdf, &["-struct-text"])
        };
        (source, texts)
    });
    let read: Vec<(Source, String)> = read.buffered(CONCURRENT).collect().await;
    let by_poppler = read.iter().map(|(source, tree)| {
        // Texts of contents are in quotation marks, on lines of their own.
        let lines = tree.lines().map(str::trim);
        (source, Order::of(lines.filter(|line| line.starts_with('"')), source))
    });
    assert_in_order(by_poppler, &ELSEWHERE);
    let by_pdf_js = read_by_pdf_js(folder.path());
    let sources = read.iter().map(|(source, _)| source);
    let by_pdf_js = sources.filter(|source| source.name != WITH_FORMS).map(|source| {
        let texts = by_pdf_js[&source.name].iter().map(String::as_str);
        (source, Order::of(texts, source))
    });
    assert_in_order(by_pdf_js, &[]);
}

/// Returns the texts of the files in a folder, in the order of their structure trees.
fn read_by_pdf_js(folder: &Path) -> HashMap<String, Vec<String>> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../end2end/structure-reader.mjs");
    let answer = Command::new("node").arg(reader).arg(folder).output().unwrap();
    let errors = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{errors}");
    serde_json::from_slice(&answer.stdout).unwrap()
}

/// Asserts that a tree that `pdfinfo` has printed has the header cells of the source, each with a scope. The browser finds the scopes of
/// those without one.
fn assert_headers(tree: &str, source: &Source) {
    let lines = || tree.lines().map(str::trim);
    let with = |scope: &str| lines().filter(|line| *line == scope).count();
    let all = lines()
        .filter(|line| line.split([' ', ':']).next() == Some("TH"))
        .count();
    let (of_rows, of_columns) = (with("/Scope /Row"), with("/Scope /Column"));
    let expected = &source.headers;
    assert!(
        (expected.certain..=expected.all).contains(&all)
            && of_rows + of_columns == all
            && of_rows >= expected.of_rows
            && of_columns >= expected.of_columns,
        "{}: {all} headers, {of_rows} of rows and {of_columns} of columns, not {expected:?}",
        source.name
    );
}

/// Asserts that the texts of all pages are in order, but for those in `elsewhere`.
fn assert_in_order<'a>(orders: impl Iterator<Item = (&'a Source, Order)>, elsewhere: &[(&str, &[&str])]) {
    let mut found = 0;
    for (Source { name, text, .. }, order) in orders {
        let expected = elsewhere.iter().find(|(page, _)| page == name);
        let expected = expected.map_or(&[][..], |(_, texts)| texts);
        assert_eq!(order.elsewhere, expected, "{name}");
        assert!(order.found > 0 || text.chars().count() < LONG_SOURCE, "{name}: no text");
        found += order.found;
    }
    assert!(
        found >= LEAST_FOUND,
        "only {found} texts are in the source of their page"
    );
}

/// Comparison of a structure tree with the source of its page.
#[derive(Default)]
struct Order {
    /// Number of texts that are in the source.
    found: usize,
    /// Those that are read after a text that follows them in the source.
    elsewhere: Vec<String>,
}

impl Order {
    fn of<'a>(texts: impl Iterator<Item = &'a str>, source: &Source) -> Self {
        let mut order = Self::default();
        let source = source.text.as_str();
        let mut position = 0;
        // A header of a table is on every page.
        let mut read = String::new();
        for text in texts.map(letters) {
            let is_long = text.chars().count() >= LEAST_LENGTH;
            if let Some(at) = source[position..].find(&text).filter(|_| is_long) {
                position += at + text.len();
                order.found += 1;
            } else if is_long && source.contains(&text) && !read.contains(&text) {
                order.elsewhere.push(text.clone());
            }
            read.push_str(&text);
        }
        order
    }
}

/// Returns the letters and digits of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}
