//! `platen inspect --accessibility`: levels of conformance, violations, and the structure tree.

use std::fmt::Write as _;

use platen_core::service::renders::accessibility::{found, found_contrast, level};
use platen_domain::render::accessibility::{AccessibilityReport, Finding};
use platen_pdf::{
    check::{Examination, standards::Conformance},
    inspect::{
        Inspection,
        structure::{StructureElement, StructureTree},
    },
};

use crate::cli::inspect::{add, conformance};

/// Returns what a file declares and earns, what prevents more, and its structure.
pub(super) fn as_text(inspection: &Inspection, structure: &StructureTree) -> String {
    let mut text = String::new();
    add(&mut text, "Declared", inspection.declared.clone());
    match &inspection.verdict {
        Ok(examination) => {
            let earned = format!("to {}", Conformance::list(&examination.earned));
            add(&mut text, "Conforms", [earned]);
            let report = report(examination);
            add(&mut text, "Findings", findings(&report));
            let icons = report.findings.iter().filter(|finding| !finding.is_violation());
            add(&mut text, "Icons", icons.map(Finding::explanation));
            add(
                &mut text,
                "Contrast",
                report.low_contrast.iter().map(Finding::explanation),
            );
        }
        Err(_) => add(&mut text, "Conforms", conformance(inspection)),
    }
    text + &structure_text(structure)
}

fn report(examination: &Examination) -> AccessibilityReport {
    let levels = examination.earned.iter().copied().map(level).collect();
    let findings = examination.findings.iter().map(|finding| found(finding, None));
    let low_contrast = examination.low_contrast.iter();
    let low_contrast = low_contrast.map(|contrast| found_contrast(contrast, None));
    AccessibilityReport::new(levels, findings).with_low_contrast(low_contrast)
}

fn findings(report: &AccessibilityReport) -> Vec<String> {
    if report.passes_machine_checks() {
        let passes = "none: passes all machine checks of PDF/A-2a and PDF/UA-1";
        return vec![
            passes.into(),
            "Reading order, alternative texts and contrast need a person's judgement.".into(),
        ];
    }
    let violations = report.findings.iter().filter(|finding| finding.is_violation());
    let mut lines: Vec<_> = violations.map(Finding::explanation).collect();
    lines.extend(report.has_more_violations().then(|| "and more".to_owned()));
    lines
}

/// Returns the elements as indented lines, each before its children.
fn structure_text(tree: &StructureTree) -> String {
    if tree.elements.is_empty() {
        return "Structure: none, the document isn't tagged.\n".to_owned();
    }
    let mut text = "Structure:\n".to_owned();
    for element in &tree.elements {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:indent$}{}",
            "",
            described(element),
            indent = 2 * (element.depth + 1)
        );
    }
    if tree.is_cut {
        let _ = writeln!(text, "  Only the first {} elements are listed.", tree.elements.len());
    }
    text
}

/// Returns type, title, language, texts and first words of an element: `Figure, alternative text “Sales”`.
fn described(element: &StructureElement) -> String {
    let quoted = |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name} “{text}”"));
    let facts = [
        Some(element.kind.clone()),
        quoted("title", &element.title),
        element.language.clone(),
        quoted("alternative text", &element.alternative),
        quoted("replacement text", &element.actual_text),
        element.text.as_ref().map(|text| format!("“{text}”")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_indented_below_their_parents() {
        let element = |depth, kind: &str| StructureElement {
            depth,
            kind: kind.to_owned(),
            page: None,
            title: None,
            language: None,
            alternative: None,
            actual_text: None,
            text: None,
        };
        let document = StructureElement {
            language: Some("de-DE".into()),
            ..element(0, "Document")
        };
        let figure = StructureElement {
            alternative: Some("Sales".into()),
            ..element(1, "Figure")
        };
        let tree = StructureTree {
            elements: vec![document, figure],
            is_cut: true,
        };
        let expected = "Structure:\n  Document, de-DE\n    Figure, alternative text “Sales”\n  \
            Only the first 2 elements are listed.\n";
        assert_eq!(structure_text(&tree), expected);
        assert!(structure_text(&StructureTree::default()).contains("isn't tagged"));
    }
}
