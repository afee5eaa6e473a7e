//! Examines a finished file: whether it conforms to PDF/A-2b (ISO 19005-2), and what it conforms to beyond that:
//! PDF/A-2u, PDF/A-2a, PDF/UA-1 (ISO 14289-1). The examination knows what Chromium writes and completion adds; anything
//! else is not known to conform and is refused. No file may pass here that veraPDF would fail.

pub mod contrast;
pub mod levels;
pub mod rules;
pub mod standards;

mod colour_profiles;
mod colours;
mod drawings;
mod fonts;
mod framing;
mod marks;
mod metadata;
mod objects;
mod pages;
mod painted;
pub(crate) mod places;
mod shapes;
mod shown;
mod specimens;
mod structure;
mod syntax;
pub(crate) mod unicode;

use std::fmt;

use levels::LevelFindings;
use objects::Found;
use standards::Conformance;

use crate::PdfError;
use crate::concurrency::concurrently;
use crate::document::Document;
use crate::file::File;
use crate::object::{Dictionary, ObjectNumber};
use crate::object_streams::unpack;
use crate::page_tree::list_pages;

/// Most violations that are reported for one file.
const MAX_VIOLATIONS: usize = 100;

/// Result of the examination of a file that conforms to PDF/A-2b at least.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examination {
    /// Standards that the file conforms to, as far as machines can check: the highest level of PDF/A, then PDF/UA-1.
    pub earned: Vec<Conformance>,
    /// Standards that its metadata declares, in the same order; never more than it earned.
    pub declared: Vec<Conformance>,
    /// What prevents the file from conforming to the other standards, and what makes it hard to use, but prevents none: each
    /// violation once for its place, at most [`levels::MAX_FINDINGS`].
    pub findings: Vec<levels::Finding>,
    /// Texts with too little contrast, which prevent no standard: the first one for each pair of colours, at most 20.
    pub low_contrast: Vec<contrast::LowContrast>,
}

/// Why a file doesn't conform, or is not known to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Clause of ISO 19005-2, with veraPDF's number of the test if it has one: `6.2.11.8-1`.
    pub clause: &'static str,
    /// Number of the object that violates the clause; `None` if the file as a whole does.
    pub object: Option<u32>,
    /// Description, for readers who know PDF.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.clause, self.message)?;
        self.object
            .map_or(Ok(()), |number| write!(formatter, " (object {number})"))
    }
}

/// Examines a file. Returns the violations if it does not conform to PDF/A-2b or to a standard that it declares, or is
/// not known to: at least one, at most 100, and one per object.
pub fn examine(bytes: &[u8]) -> Result<Examination, Vec<Violation>> {
    examine_after(bytes, &[], || ())
}

/// Like [`examine`], for a document with these numbers of pages of each part. Calls `before_structure` before it checks the
/// structure, which takes a second thread.
pub(crate) fn examine_after(
    bytes: &[u8],
    pages_by_part: &[usize],
    before_structure: impl FnOnce(),
) -> Result<Examination, Vec<Violation>> {
    check_file_and(bytes, |document, found, findings| {
        examine_content(document, found, pages_by_part, findings, before_structure)
    })
}

/// Checks a file against PDF/A-2b alone, without the [`rules`] beyond that [`examine`] applies as well. Content is scanned in the same
/// way, which includes its marks and colours. Returns the violations: at least one, at most 100, and one per object.
pub fn check_basic(bytes: &[u8]) -> Result<(), Vec<Violation>> {
    check_file_and(bytes, |document, found, findings| {
        let (shown, violations) = drawings::check_drawings(document, found);
        findings.extend(violations);
        Ok(check_fonts_and_metadata(document, &shown, findings).map(drop))
    })
}

/// Checks the objects of a file and, if they conform, the rest by `check_rest`. Returns the violations of both, or what it returns.
fn check_file_and<T>(
    bytes: &[u8],
    check_rest: impl FnOnce(&Document, &Found, &mut Findings) -> Result<Option<T>, PdfError>,
) -> Result<T, Vec<Violation>> {
    let mut findings = Findings::default();
    let checked = match check_unpacked(bytes, &mut findings, check_rest) {
        Ok(checked) => checked,
        Err(error) => {
            findings.add(None, Finding::new("6.1", error.to_string()));
            None
        }
    };
    checked
        .filter(|_| findings.violations.is_empty())
        .ok_or(findings.violations)
}

/// Unpacks and checks a file. Object streams are accepted in one form only, which conforms, so only the objects
/// remain to be checked.
fn check_unpacked<T>(
    bytes: &[u8],
    findings: &mut Findings,
    check_rest: impl FnOnce(&Document, &Found, &mut Findings) -> Result<Option<T>, PdfError>,
) -> Result<Option<T>, PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    let [part] = document.parts() else {
        return Ok(None);
    };
    match check_file(bytes, part.file(), &document, findings) {
        Some(found) => check_rest(&document, &found, findings),
        None => Ok(None),
    }
}

/// Examines a file whose objects conform.
fn examine_content(
    document: &Document,
    found: &Found,
    pages_by_part: &[usize],
    findings: &mut Findings,
    before_structure: impl FnOnce(),
) -> Result<Option<Examination>, PdfError> {
    let root = document.root()?;
    let pages = list_pages(document, root)?;
    let catalog = document.get_dictionary(root, "expected a catalog")?;
    let mut levels = LevelFindings::new(&pages);
    // Also if the content turns out to violate the standard, which few files do.
    let ((shown, violations), structure) = concurrently(
        || drawings::check_drawings(document, found),
        || {
            before_structure();
            structure::check_structure(document, &catalog, &pages, &mut levels)
        },
    );
    findings.extend(violations);
    // Pages are followed only if their content is known to conform.
    let doubtful = if findings.violations.is_empty() {
        contrast::doubtful_pages(&pages, &shown)
    } else {
        Vec::new()
    };
    let follow = || contrast::follow(document, &pages, &doubtful);
    let remaining = || {
        let Some(metadata) = check_fonts_and_metadata(document, &shown, findings) else {
            return Ok(None);
        };
        unicode::check_unicode(&shown, &mut levels)?;
        if !metadata.has_title {
            levels.document(&rules::NO_TITLE);
        }
        painted::check_painted(&shown.marks, &pages, &mut levels);
        let tree = structure::check_contents(document, &catalog, structure?, &shown.marks, &mut levels)?;
        Ok(Some((metadata, tree)))
    };
    let (texts, contents) = if doubtful.is_empty() {
        (Vec::new(), remaining())
    } else {
        concurrently(follow, remaining)
    };
    let Some((metadata, tree)) = contents? else {
        return Ok(None);
    };
    let earned = Conformance::earned(levels.prevented());
    if let Some(standard) = metadata.declared.iter().find(|standard| !standard.is_among(&earned)) {
        let clause = standard.declaration_clause();
        let message = format!("metadata: declares {standard}, but the file does not conform to it");
        findings.add(None, Finding::new(clause, message));
    }
    Ok(Some(Examination {
        earned,
        declared: metadata.declared,
        low_contrast: contrast::locate(document, &pages, tree.as_ref(), texts),
        findings: places::locate(document, &pages, tree.as_ref(), levels, pages_by_part),
    }))
}

/// Checks a file against PDF/A-2b, except for its content, fonts and metadata. Returns `None` if objects violate the
/// standard.
fn check_file(bytes: &[u8], file: &File, document: &Document, findings: &mut Findings) -> Option<Found> {
    findings.note(None, framing::check_identifiers(file));
    let trailer = findings.take(None, framing::check_framing(bytes, file))?;
    let mut found = objects::check_objects(bytes, file, trailer, findings);
    // The remaining checks rely on every object having a known shape.
    if !findings.violations.is_empty() {
        return None;
    }
    findings.note(None, colour_profiles::check_output_intent(document));
    for number in &found.colour_profiles {
        findings.note(Some(*number), colour_profiles::check_colour_profile(document, *number));
    }
    for number in &found.pages {
        findings.note(Some(*number), pages::check_page_size(document, *number));
    }
    found.page_tree_nodes.sort_unstable();
    for number in &found.page_tree_nodes {
        let result = pages::check_page_tree_node(document, *number, &found.page_tree_nodes);
        findings.note(Some(*number), result);
    }
    Some(found)
}

/// Checks fonts and metadata against PDF/A-2b. Returns `None` if anything in the file violates it.
fn check_fonts_and_metadata(
    document: &Document,
    shown: &shown::Shown,
    findings: &mut Findings,
) -> Option<metadata::Metadata> {
    for (number, font) in &shown.composite {
        findings.note(
            Some(*number),
            fonts::check_composite_font(document, *number, &font.codes),
        );
    }
    for (number, font) in &shown.type_3 {
        findings.note(
            Some(*number),
            fonts::check_type_3_font(document, *number, &font.codes, &shown.glyph_widths),
        );
    }
    let metadata = findings.take(None, metadata::check_metadata(document));
    metadata.filter(|_| findings.violations.is_empty())
}

fn dictionary<'a>(document: &Document<'a>, number: ObjectNumber) -> Result<Dictionary<'a>, Finding> {
    document
        .get_dictionary(number, "expected a dictionary")
        .map_err(|error| Finding::new("6.1", error.to_string()))
}

/// A violation without its object. An empty clause is replaced by that of the dictionary in which it was found.
struct Finding {
    clause: &'static str,
    message: String,
}

impl Finding {
    fn new(clause: &'static str, message: impl Into<String>) -> Self {
        Self {
            clause,
            message: message.into(),
        }
    }

    /// Returns the finding for a value that is not in the set of known ones.
    fn unknown() -> Self {
        Self::new("", "is not known to conform")
    }
}

#[derive(Default)]
struct Findings {
    violations: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, object: Option<ObjectNumber>, finding: Finding) {
        if self.violations.len() < MAX_VIOLATIONS {
            let clause = if finding.clause.is_empty() {
                "6.1"
            } else {
                finding.clause
            };
            let message = finding.message;
            self.violations.push(Violation {
                clause,
                object,
                message,
            });
        }
    }

    /// Adds the violations of other findings.
    fn extend(&mut self, other: Self) {
        let room = MAX_VIOLATIONS - self.violations.len();
        self.violations.extend(other.violations.into_iter().take(room));
    }

    fn note(&mut self, object: Option<ObjectNumber>, result: Result<(), Finding>) {
        self.take(object, result);
    }

    /// Returns the value of a result, or adds its finding.
    fn take<T>(&mut self, object: Option<ObjectNumber>, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.add(object, finding)).ok()
    }
}

#[cfg(test)]
pub(crate) mod tests;
