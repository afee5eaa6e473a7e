//! The order in which the pages of the corpus are read, by a second reader of structure trees, Poppler: that of the text
//! in the page's source.

use std::collections::HashSet;

use futures::{StreamExt, stream};
use platen_pdf::OutputFormat;
use uuid::Uuid;

use super::print;
use crate::support::{TestEngine, info};

/// Writes the rendered text in the order of the source to the console, which stores 100 messages of 500 characters.
const WRITE_TEXT: &str = "const text = (document.body?.innerText ?? '').replace(/\\s+/g, ''); \
    for (let at = 0; at < text.length; at += 450) console.log('text:' + text.slice(at, at + 450))";
/// Shorter texts may be anywhere in the source.
const LEAST_LENGTH: usize = 4;
/// Minimum number of texts that are found in the source. The others are generated, in a frame or a field, or written
/// with ligatures.
const LEAST_FOUND: usize = 1_250;
/// Pages whose size PDF/A doesn't allow, or with so much tagged content that Poppler takes long: it follows the page once
/// for each.
const UNSUITABLE: [&str; 8] = [
    "heat-map.html",
    "invoice-long.html",
    "many-pages.html",
    "many-structure.html",
    "numbers-extreme.html",
    "page-huge.html",
    "page-tiny.html",
    "timetable.html",
];
/// Texts that are read elsewhere: the browser puts HTML in an SVG image before the image's own text.
const ELSEWHERE: [(&str, &[&str]); 1] = [(
    "svg-effects.html",
    &["CLIP", "TextalongapathwithtspanturnedOutlinedGradient"],
)];
/// Concurrent renders.
const CONCURRENT: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_read_in_the_order_of_its_source() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let pages = print::pages().into_iter().filter_map(|file| {
        let name = file.file_name()?.to_str()?.to_owned();
        (!UNSUITABLE.contains(&name.as_str())).then_some((name, file))
    });
    let read = stream::iter(pages).map(async |(name, file)| {
        let mut job = print::job(&file);
        job.evaluate = Some(WRITE_TEXT.to_owned());
        job.format = OutputFormat::PdfA2b;
        let rendered = engine.render(account, job).await;
        let rendered = rendered.unwrap_or_else(|error| panic!("{name}: {error}"));
        let source = rendered.console.iter();
        let source: String = source
            .filter_map(|message| message.text.strip_prefix("text:"))
            .collect();
        let order = Order::of(&info(&rendered.pdf, &["-struct-text"]), &letters(&source));
        (name, order)
    });
    let orders: Vec<(String, Order)> = read.buffered(CONCURRENT).collect().await;
    let found: usize = orders.iter().map(|(_, order)| order.found).sum();
    assert!(
        found >= LEAST_FOUND,
        "only {found} texts are in the source of their page"
    );
    for (name, order) in orders {
        let expected = ELSEWHERE.iter().find(|(page, _)| *page == name);
        let expected = expected.map_or(&[][..], |(_, texts)| texts);
        assert_eq!(order.elsewhere, expected, "{name}");
    }
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
    /// Compares the tree that `pdfinfo` has printed. Texts of contents are in quotation marks, on lines of their own.
    fn of(tree: &str, source: &str) -> Self {
        let mut order = Self::default();
        let mut position = 0;
        // A header of a table is on every page.
        let mut seen = HashSet::new();
        let texts = tree.lines().map(str::trim).filter(|line| line.starts_with('"'));
        let texts = texts.map(letters).filter(|text| text.chars().count() >= LEAST_LENGTH);
        for text in texts {
            if let Some(at) = source[position..].find(&text) {
                position += at + text.len();
            } else if !source.contains(&text) {
                continue;
            } else if !seen.contains(&text) {
                order.elsewhere.push(text.clone());
            }
            order.found += 1;
            seen.insert(text);
        }
        order
    }
}

/// Returns the letters and digits of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}
