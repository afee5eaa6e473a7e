//! Converts single pages to PDF/A.

use std::{fs, path::Path};

use platen_pdf::{Assembly, OutputFormat, PageFacts, PageSelection, PdfError, PrintedPart, assemble};
use time::OffsetDateTime;

use super::{
    Outcome,
    inventory::Inventory,
    look::{self, Fingerprint},
    print::Printed,
};

/// Pages for which `@page` sets a size that PDF/A doesn't allow: the length of a side in points.
const FORBIDDEN_SIZES: [(&str, f64); 2] = [("page-huge.html", 28_800.0), ("page-tiny.html", 1.0)];

/// A page converted to PDF/A, for comparison with documents that it is a part of.
pub(super) struct Single<'a> {
    pub(super) printed: &'a Printed,
    pub(super) facts: PageFacts,
    pub(super) inventory: Inventory,
    /// Fingerprints of the first pages of the PDF/A file.
    pub(super) looks: Vec<Fingerprint>,
}

/// Converts a page to PDF/A and compares the files. The first result is `None` if the page can't be converted, or only
/// a selection of it.
pub(super) fn check<'a>(printed: &'a Printed, folder: &Path) -> (Option<Single<'a>>, Outcome) {
    let mut outcome = Outcome::default();
    let name = printed.name.as_str();
    let drawn_file = folder.join(format!("{name}.pdf"));
    fs::write(&drawn_file, &printed.pdf).unwrap();
    let mut drawn = Inventory::of(&drawn_file);
    let facts = PageFacts {
        title: printed.title.clone(),
        language: drawn.language.clone(),
        ..PageFacts::default()
    };
    let part = PrintedPart {
        bytes: printed.pdf.as_slice().into(),
        facts: facts.clone(),
    };
    let forbidden = FORBIDDEN_SIZES.iter().find(|(forbidden, _)| *forbidden == name);
    let archival = match (assemble(archival(vec![part], printed.selection.clone())), forbidden) {
        (Ok(archival), None) => archival.bytes,
        (Err(PdfError::PageSize { page: 1, width, .. }), Some((_, side))) if (width - side).abs() < 1.0 => {
            return (None, outcome);
        }
        (result, _) => {
            let result = result.map(|_| "an archival file, though its size is forbidden");
            outcome.problems.push(format!("{name}: {result:?}"));
            return (None, outcome);
        }
    };
    let archival_file = folder.join(format!("{name}.archival.pdf"));
    fs::write(&archival_file, &archival).unwrap();

    let inventory = Inventory::of(&archival_file);
    let pages = look::first_pages(inventory.pages.len());
    let before = look::of(&drawn_file, &printed.pdf, &pages);
    let after = look::of(&archival_file, &archival, &pages);
    for ((before, after), page) in before.iter().zip(&after).zip(&pages) {
        let differences = before.differences(after, name);
        let differences = differences
            .iter()
            .map(|difference| format!("{name}, page {page}: {difference}"));
        outcome.problems.extend(differences);
    }
    if printed.selection.is_some() {
        // Counts of the whole document differ from those of its first pages.
        drawn.pages.truncate(inventory.pages.len());
        drawn.outline_entries = inventory.outline_entries;
        drawn.tags = inventory.tags;
    }
    let differences = drawn.differences(&inventory);
    outcome
        .problems
        .extend(differences.iter().map(|difference| format!("{name}: {difference}")));
    outcome.files.push(archival_file);
    let single = Single {
        printed,
        facts,
        inventory,
        looks: after.iter().map(look::PageLook::fingerprint).collect(),
    };
    (Some(single).filter(|_| printed.selection.is_none()), outcome)
}

/// Returns the assembly of a PDF/A document from parts, always with the same time.
pub(super) fn archival(parts: Vec<PrintedPart<'_>>, selection: Option<PageSelection>) -> Assembly<'_> {
    Assembly {
        parts,
        stamps: Vec::new(),
        page_limit: usize::MAX,
        selection,
        watermark: None,
        format: OutputFormat::PdfA2b,
        instant: OffsetDateTime::UNIX_EPOCH,
    }
}
