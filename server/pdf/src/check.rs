//! Checks whether a finished file conforms to PDF/A-2b (ISO 19005-2). The check knows what Chromium writes and
//! completion adds; anything else is not known to conform and is refused. No file may pass here that veraPDF would
//! fail.

mod colour_profiles;
mod drawings;
mod fonts;
mod framing;
mod metadata;
mod objects;
mod pages;
mod shapes;
mod specimens;
mod syntax;

use std::fmt;

use crate::PdfError;
use crate::document::Document;
use crate::file::File;
use crate::object::{Dictionary, ObjectNumber};
use crate::object_streams::unpack;

/// Most violations that are reported for one file.
const MAX_VIOLATIONS: usize = 100;

/// A standard that a file was checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conformance {
    /// ISO 19005-2, level B.
    PdfA2b,
}

impl Conformance {
    /// Returns the common name of the standard, `PDF/A-2b`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PdfA2b => "PDF/A-2b",
        }
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
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

/// Checks a file against PDF/A-2b. Returns the violations if it does not conform, or is not known to: at least one, at
/// most 100, and one per object.
pub fn check(bytes: &[u8]) -> Result<Conformance, Vec<Violation>> {
    let mut findings = Findings::default();
    if let Err(error) = check_unpacked(bytes, &mut findings) {
        findings.add(None, Finding::new("6.1", error.to_string()));
    }
    if findings.violations.is_empty() {
        Ok(Conformance::PdfA2b)
    } else {
        Err(findings.violations)
    }
}

/// Unpacks and checks a file. Object streams are accepted in one form only, which conforms, so only the objects remain
/// to be checked.
fn check_unpacked(bytes: &[u8], findings: &mut Findings) -> Result<(), PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    for part in document.parts() {
        check_file(bytes, part.file(), &document, findings);
    }
    Ok(())
}

fn check_file(bytes: &[u8], file: &File, document: &Document, findings: &mut Findings) {
    findings.note(None, framing::check_identifiers(file));
    let trailer = match framing::check_framing(bytes, file) {
        Ok(trailer) => trailer,
        Err(finding) => return findings.add(None, finding),
    };
    let mut found = objects::check_objects(bytes, file, trailer, findings);
    // The remaining checks rely on every object having a known shape.
    if !findings.violations.is_empty() {
        return;
    }
    findings.note(None, metadata::check_metadata(document));
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
    let shown = drawings::check_drawings(document, &found, findings);
    for (number, codes) in &shown.composite {
        findings.note(Some(*number), fonts::check_composite_font(document, *number, codes));
    }
    for (number, codes) in &shown.type_3 {
        findings.note(
            Some(*number),
            fonts::check_type_3_font(document, *number, codes, &shown.glyph_widths),
        );
    }
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

    fn note(&mut self, object: Option<ObjectNumber>, result: Result<(), Finding>) {
        if let Err(finding) = result {
            self.add(object, finding);
        }
    }
}

#[cfg(test)]
mod tests;
