//! A corpus of realistic pages, converted to PDF/A: alone, joined, and with selected pages. Each must look as the
//! browser printed it, and pass validation by veraPDF.

mod inventory;
mod joined;
mod levels;
mod look;
pub(crate) mod print;
mod reading;
mod single;
mod spoil;
mod tools;
#[path = "../../../pdf/tests/support/verapdf.rs"]
mod verapdf;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use platen_pdf::check::examine;

use crate::support::TestEngine;

/// Number of processors of the machine that runs `make test`.
const WORKERS: usize = 2;

/// Minimum number of corrupted files that veraPDF must refuse; with fewer, `platen_pdf::check` would hardly be tested.
const LEAST_SPOILT: usize = 20;

/// Result of a check: the files that must be valid PDF/A, and the faults, each with the name of its page.
#[derive(Default)]
struct Outcome {
    files: Vec<PathBuf>,
    problems: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_stays_as_it_was_drawn_and_is_archival() {
    let folder = tempfile::Builder::new().prefix("platen-corpus-").tempdir().unwrap();
    let engine = TestEngine::start("").await;
    let printed = print::print_corpus(&engine).await;
    let mut files = print::write_decorated(&engine, folder.path()).await;
    drop(engine);
    let mut problems = tokio::task::block_in_place(|| {
        let (singles, mut outcomes): (Vec<_>, Vec<_>) = for_each(&printed, |page| single::check(page, folder.path()))
            .into_iter()
            .unzip();
        let singles: Vec<_> = singles.into_iter().flatten().collect();
        outcomes.extend(for_each(&joined::groups(&singles), |group| {
            joined::check(group, folder.path())
        }));
        let mut problems = Vec::new();
        for outcome in outcomes {
            files.extend(outcome.files);
            problems.extend(outcome.problems);
        }
        problems.extend(check_conformance(&files, folder.path()));
        problems
    });
    if !problems.is_empty() {
        problems.sort();
        let kept = folder.keep();
        panic!("{}\nThe files are in {}.", problems.join("\n"), kept.display());
    }
}

/// Checks that veraPDF and `platen_pdf::check` accept all files at each level that they declare, that they declare what
/// they earn, and that the latter refuses every corrupted file that veraPDF refuses.
fn check_conformance(files: &[PathBuf], folder: &Path) -> Vec<String> {
    let spoilt = spoil::spoil(files, folder);
    let refusals = verapdf::refusals("2b", &[files, &spoilt].concat());
    let verdicts = for_each(files, |file| (file, examine(&fs::read(file).unwrap())));
    let mut problems = levels::check(&verdicts);
    for (file, verdict) in &verdicts {
        let refusal = &refusals[*file];
        if !refusal.is_empty() {
            problems.push(format!("{}, by veraPDF: {}", file.display(), refusal.join(", ")));
        }
        if let Err(violations) = verdict {
            problems.push(format!("{}, by our check: {violations:?}", file.display()));
        }
    }
    let refused: Vec<&PathBuf> = spoilt.iter().filter(|file| !refusals[*file].is_empty()).collect();
    if refused.len() < LEAST_SPOILT {
        problems.push(format!("only {} spoilt files are refused by veraPDF", refused.len()));
    }
    for file in refused {
        if examine(&fs::read(file).unwrap()).is_ok() {
            let refusal = refusals[file].join(", ");
            problems.push(format!(
                "{}, accepted by our check, by veraPDF: {refusal}",
                file.display()
            ));
        }
    }
    problems
}

/// Runs `work` on each item, on [`WORKERS`] threads, and returns the results in the order of the items.
fn for_each<'a, Item: Sync, Made: Send>(items: &'a [Item], work: impl Fn(&'a Item) -> Made + Sync) -> Vec<Made> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    results.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
