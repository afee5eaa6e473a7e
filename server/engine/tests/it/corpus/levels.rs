//! Levels beyond PDF/A-2b: which documents declare them, and what prevents the others.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use platen_pdf::check::{Examination, Violation, standards::Conformance};

use super::verapdf;

/// Levels with veraPDF's names, and the minimum number of files that declare them. The authors of the others have left
/// something out that PDF/UA-1 requires.
const LEVELS: [(&str, Conformance, usize); 3] = [
    ("2u", Conformance::PdfA2u, 128),
    ("2a", Conformance::PdfA2a, 127),
    ("ua1", Conformance::PdfUa1, 96),
];
/// All files that don't declare PDF/A-2a, with the clauses that they violate: the browser writes no tags if a page has
/// nothing but header and footer. All single pages declare it.
const UNTAGGED: [(&str, &[&str]); 1] = [("empty.html.decorated.pdf", &["6.7.2.2-1", "6.7.3.3-1"])];
/// Minimum number of single pages that declare PDF/UA-1.
const LEAST_SINGLE: usize = 85;
/// The pages that don't declare PDF/UA-1, with the clauses that their authors violate: headings that begin below the
/// first level, skip one or are below the sixth, and missing alternative texts, languages and titles.
const FAULTS: [(&str, &[&str]); 17] = [
    ("bad-lang", &["7.2-33", "7.2-34"]),
    ("embeds", &["7.4.2-1"]),
    ("fixed-header", &["7.4.2-1"]),
    ("glossary", &["7.4.2-1"]),
    ("images", &["7.3-1"]),
    ("invisible-characters", &["7.4.2-1"]),
    ("jpeg-cmyk", &["7.3-1"]),
    ("links-inside", &["7.4.2-1"]),
    ("links-long", &["7.4.2-1"]),
    ("many-pages", &["7.4.2-1"]),
    ("notitle", &["7.1-9", "7.1-10"]),
    ("quirks", &["7.2-24", "7.2-33", "7.2-34"]),
    ("resume", &["7.4.2-1"]),
    ("shadows-and-cards", &["7.4.2-1"]),
    ("tags", &["7.4.4-2"]),
    ("title-odd", &["7.4.2-1"]),
    ("wide-colour", &["7.3-1"]),
];

/// Checks that veraPDF accepts each file at each level that it declares, and that it declares what it has earned.
/// Prints how many files declare each level, and what prevents the others from it.
pub(super) fn check(verdicts: &[(&PathBuf, Result<Examination, Vec<Violation>>)]) -> Vec<String> {
    let mut problems = Vec::new();
    let examined = || {
        verdicts
            .iter()
            .filter_map(|(file, verdict)| Some((*file, verdict.as_ref().ok()?)))
    };
    for (file, examination) in examined() {
        if examination.declared != examination.earned {
            let (declared, earned) = (&examination.declared, &examination.earned);
            problems.push(format!(
                "{} declares {declared:?}, but earned {earned:?}",
                file.display()
            ));
        }
        for finding in &examination.findings {
            println!("{}: {finding}", file.display());
        }
    }
    for (flavour, standard, least) in LEVELS {
        let declare = |examination: &Examination| {
            let declared = &examination.declared;
            declared.contains(&standard) || standard == Conformance::PdfA2u && declared.contains(&Conformance::PdfA2a)
        };
        let files: Vec<PathBuf> = examined()
            .filter(|(_, examination)| declare(examination))
            .map(|(file, _)| file.clone())
            .collect();
        println!("{} of {} files declare {standard}", files.len(), verdicts.len());
        if files.len() < least {
            problems.push(format!("only {} files declare {standard}, not {least}", files.len()));
        }
        for (file, refusal) in verapdf::refusals(flavour, &files) {
            if !refusal.is_empty() {
                problems.push(format!(
                    "{}, {standard}, by veraPDF: {}",
                    file.display(),
                    refusal.join(", ")
                ));
            }
        }
    }
    problems.extend(check_level_a(examined()));
    problems.extend(check_singles(examined()));
    problems
}

/// Checks that each file declares PDF/A-2a, or violates exactly the expected clauses.
fn check_level_a<'a>(examined: impl Iterator<Item = (&'a PathBuf, &'a Examination)>) -> Option<String> {
    let others = examined.filter(|(_, examination)| !examination.declared.contains(&Conformance::PdfA2a));
    let others = others.map(|(file, examination)| {
        let violated = violated(examination, |standard| standard != Conformance::PdfUa1);
        (name(file), violated)
    });
    let found: BTreeMap<&str, BTreeSet<&str>> = others.collect();
    let expected = UNTAGGED.map(|(file, clauses)| (file, clauses.iter().copied().collect()));
    let expected: BTreeMap<&str, BTreeSet<&str>> = expected.into_iter().collect();
    (found != expected).then(|| format!("{found:?} don't declare PDF/A-2a, not {expected:?}"))
}

/// Checks that each single page declares PDF/UA-1, or violates exactly the clauses that its author violates.
fn check_singles<'a>(examined: impl Iterator<Item = (&'a PathBuf, &'a Examination)>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut conforming = 0;
    for (file, examination) in examined {
        let Some(page) = name(file).strip_suffix(".html.archival.pdf") else {
            continue;
        };
        let violated = violated(examination, |standard| standard == Conformance::PdfUa1);
        let expected = FAULTS.iter().filter(|(faulty, _)| *faulty == page);
        let expected: BTreeSet<&str> = expected.flat_map(|(_, clauses)| *clauses).copied().collect();
        if violated != expected {
            problems.push(format!("{page} violates {violated:?} of PDF/UA-1, not {expected:?}"));
        }
        conforming += usize::from(examination.declared.contains(&Conformance::PdfUa1));
    }
    println!("{conforming} single pages declare PDF/UA-1");
    if conforming < LEAST_SINGLE {
        problems.push(format!(
            "only {conforming} single pages declare PDF/UA-1, not {LEAST_SINGLE}"
        ));
    }
    problems
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns the violated clauses of standards.
fn violated(examination: &Examination, is_wanted: impl Fn(Conformance) -> bool) -> BTreeSet<&'static str> {
    let clauses = examination.findings.iter().flat_map(|finding| finding.rule.prevents);
    let clauses = clauses.filter(|(standard, _)| is_wanted(*standard));
    clauses.map(|(_, clause)| *clause).collect()
}
