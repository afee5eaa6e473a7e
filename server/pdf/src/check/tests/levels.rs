//! Comparison of the levels that files earn with veraPDF's verdicts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::tag_damages::TAG_DAMAGES;
use super::{archived, declared_as_2b, edited, examine, mutations, verapdf};
use crate::check::rules;
use crate::check::standards::Conformance;
use crate::check::{Examination, Violation};

pub(super) const LETTER: &[u8] = include_bytes!("../../../tests/fixtures/letter.pdf");
/// veraPDF's names of the standards beyond PDF/A-2b, and the clauses that require their declaration.
const FLAVOURS: [(&str, Conformance, &str); 3] = [
    ("2u", Conformance::PdfA2u, "6.6.4-3"),
    ("2a", Conformance::PdfA2a, "6.6.4-3"),
    ("ua1", Conformance::PdfUa1, "5-1"),
];

/// Runs veraPDF once for each standard, because most of its time is the startup of Java.
#[test]
fn levels_are_never_milder_than_verapdf() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let letter = archived(LETTER);
    let mut examined: Vec<(PathBuf, Examination)> = Vec::new();
    let mut unnoticed = Vec::new();
    for (name, clause, damage) in TAG_DAMAGES {
        let damaged = edited(&letter, |document| damage(document));
        assert!(examine(&damaged).is_err(), "{name}: declares more than it earns");
        let examination = examined_as_2b(&damaged).unwrap_or_else(|violations| panic!("{name}: {violations:?}"));
        if !clauses(&examination).any(|found| found == *clause) {
            unnoticed.push((name, clauses(&examination).collect::<Vec<_>>()));
        }
        examined.push((write(folder.path(), name, &damaged), examination));
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
    for (index, bytes) in mutations::accepted_tags(&letter).into_iter().enumerate() {
        let examination = examined_as_2b(&bytes).expect("a file that is accepted");
        examined.push((write(folder.path(), &format!("mutation {index}"), &bytes), examination));
    }
    let files: Vec<PathBuf> = examined.iter().map(|(file, _)| file.clone()).collect();
    let mut refused: BTreeMap<&PathBuf, Vec<String>> = BTreeMap::new();
    let mut milder = Vec::new();
    for (flavour, standard, declaration) in FLAVOURS {
        let refusals = verapdf::refusals(flavour, &files);
        for (file, examination) in &examined {
            // The metadata of all files declares level A and PDF/UA-1.
            let clauses = refusals[file].iter().map(|line| line.trim_start_matches("FAIL "));
            let reasons = clauses.filter(|clause| *clause != declaration && *clause != "refused");
            let reasons: Vec<String> = reasons.map(ToOwned::to_owned).collect();
            if standard.is_among(&examination.earned) && !reasons.is_empty() {
                milder.push((file, standard, reasons.clone()));
            }
            refused
                .entry(files.iter().find(|known| *known == file).expect("a file"))
                .or_default()
                .extend(reasons);
        }
    }
    assert!(milder.is_empty(), "refused by veraPDF alone: {milder:#?}");
    let untested = TAG_DAMAGES
        .iter()
        .zip(&files)
        .filter(|((_, clause, _), file)| clause.contains('-') && !refused[file].iter().any(|reason| reason == clause));
    let untested: Vec<_> = untested
        .map(|((name, clause, _), file)| (name, clause, &refused[file]))
        .collect();
    assert!(untested.is_empty(), "other clauses in veraPDF: {untested:#?}");
}

/// Every rule with a clause is violated by some damage, so that the clause is compared with veraPDF's.
#[test]
fn every_rule_has_a_damage() {
    let letter = archived(LETTER);
    let damaged = TAG_DAMAGES
        .iter()
        .map(|(_, _, damage)| edited(&letter, |document| damage(document)));
    let findings = damaged.flat_map(|damaged| examined_as_2b(&damaged).expect("PDF/A-2b").findings);
    let found: Vec<_> = findings.map(|finding| finding.rule).collect();
    let untested: Vec<_> = rules::ALL
        .iter()
        .filter(|rule| !rule.prevents.is_empty())
        .filter(|rule| !found.iter().any(|found| std::ptr::eq(*found, **rule)) && !is_title(rule))
        .collect();
    assert!(untested.is_empty(), "{untested:#?}");
    assert!(TAG_DAMAGES.len() >= 60);
}

/// The title is in the metadata, which is compared with the document information.
fn is_title(rule: &rules::Rule) -> bool {
    std::ptr::eq(rule, &raw const rules::NO_TITLE)
}

fn clauses(examination: &Examination) -> impl Iterator<Item = &'static str> {
    let rules = examination.findings.iter().map(|finding| finding.rule);
    rules.flat_map(|rule| rule.prevents.iter().map(|(_, clause)| *clause))
}

/// Examines a file as if it declared PDF/A-2b only.
pub(super) fn examined_as_2b(bytes: &[u8]) -> Result<Examination, Vec<Violation>> {
    examine(&declared_as_2b(bytes))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(format!("{}.pdf", name.replace(' ', "-")));
    std::fs::write(&path, bytes).expect("room on the disk");
    path
}

/// Clauses and conditions of the documentation are those of the rules.
#[test]
fn every_rule_is_documented() {
    let documentation = include_str!("../../../../../docs/accessibility.md");
    for rule in rules::ALL {
        let message = rule.message.trim_end_matches('.');
        let row = documentation.lines().find(|line| {
            let clauses = rule.prevents.iter().all(|(_, clause)| line.contains(clause));
            clauses && line.contains(message) && line.contains(rule.condition.unwrap_or_default())
        });
        assert!(row.is_some(), "{rule:?}");
    }
}
