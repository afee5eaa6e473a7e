//! Checks the returned PDFs: a fast but wrong response is not a result.

use std::collections::BTreeSet;

use crate::pages::Load;

/// The format required of the file, in addition to the load's page count and font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Any PDF.
    Pdf,
    /// A file that claims to be PDF/A.
    PdfA,
}

/// Returns what is wrong with a document, or `None` if it is valid.
pub(crate) fn find_problem(document: &[u8], load: &Load, wanted: Wanted) -> Option<String> {
    if !document.starts_with(b"%PDF-") {
        return Some("no PDF header".into());
    }
    let document = match platen_pdf::unpack(document) {
        Ok(open) => open,
        Err(error) => return Some(error.to_string()),
    };
    let pages = count_pages(&document);
    if pages != load.page_count {
        return Some(format!("{pages} pages instead of {}", load.page_count));
    }
    if let Some(font) = load.font.filter(|font| find(&document, font.as_bytes()).is_none()) {
        return Some(format!("the web font {font} is not in it"));
    }
    if wanted == Wanted::PdfA && find(&document, b"pdfaid:part").is_none() {
        return Some("it does not call itself PDF/A".into());
    }
    None
}

/// Counts the page objects of a file with uncompressed objects, as written by Chromium. A page that an incremental
/// update has rewritten counts once.
fn count_pages(document: &[u8]) -> usize {
    let mut pages = BTreeSet::new();
    let mut rest = document;
    while let Some(end) = find(rest, b"endobj") {
        let object = &rest[..end];
        rest = &rest[end + b"endobj".len()..];
        if let Some(start) = find(object, b" 0 obj")
            && is_page(&object[start..])
        {
            let number = object[..start].rsplit(|byte| !byte.is_ascii_digit()).next();
            pages.insert(number.unwrap_or_default());
        }
    }
    pages.len()
}

fn is_page(object: &[u8]) -> bool {
    [&b"/Type /Page"[..], b"/Type/Page"]
        .iter()
        .any(|name| find(object, name).is_some_and(|at| object.get(at + name.len()) != Some(&b's')))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use platen_pdf::{OutputFormat, PageFacts};
    use time::OffsetDateTime;

    use super::{Wanted, count_pages, find_problem};
    use crate::pages::{Load, hello, invoice};

    const TWO_PAGES: &[u8] = b"%PDF-1.4\n1 0 obj\n<</Type /Pages\n/Count 2\n/Kids [2 0 R 3 0 R]>>\nendobj\n\
        2 0 obj\n<</Type /Page\n/Parent 1 0 R>>\nendobj\n3 0 obj\n<</Parent 1 0 R/Type/Page>>\nendobj\n\
        4 0 obj\n<</FontName /AAAAAA+IBMPlexMono>>\nendobj\n2 0 obj\n<</Type /Page\n/Parent 1 0 R>>\nendobj\n";

    #[test]
    fn a_page_that_was_written_twice_counts_once() {
        assert_eq!(count_pages(TWO_PAGES), 2);
    }

    #[test]
    fn pages_in_object_streams_count() {
        let printed = include_bytes!("../../../server/pdf/tests/fixtures/table.pdf");
        let (facts, format) = (PageFacts::default(), OutputFormat::PdfA2b);
        let document = platen_pdf::complete(printed, &facts, format, OffsetDateTime::UNIX_EPOCH).expect("a whole file");
        let load = Load {
            font: None,
            ..invoice()
        };
        assert_eq!(find_problem(&document.bytes, &load, Wanted::PdfA), None);
    }

    #[test]
    fn problems_are_named() {
        assert_eq!(find_problem(TWO_PAGES, &invoice(), Wanted::Pdf), None);
        let problem = |bytes: &[u8], load, wanted| find_problem(bytes, &load, wanted).expect("a fault");
        assert!(problem(b"<html>", hello(), Wanted::Pdf).contains("header"));
        assert!(problem(TWO_PAGES, hello(), Wanted::Pdf).contains("2 pages instead of 1"));
        assert!(problem(TWO_PAGES, invoice(), Wanted::PdfA).contains("PDF/A"));
        let without_font: Vec<u8> = TWO_PAGES
            .iter()
            .map(|byte| if *byte == b'x' { b'y' } else { *byte })
            .collect();
        assert!(problem(&without_font, invoice(), Wanted::Pdf).contains("IBMPlexMono"));
    }
}
