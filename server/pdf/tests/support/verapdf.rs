//! Runs veraPDF, the reference validator of PDF/A and PDF/UA, for the tests of several packages.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the violated clauses of each file; empty if it conforms. `flavour` is veraPDF's name of the standard: `2b`,
/// `2u`, `2a` or `ua1`. Runs once over all files, because most of the time is the startup of Java.
pub(crate) fn refusals(flavour: &str, files: &[PathBuf]) -> BTreeMap<PathBuf, Vec<String>> {
    if files.is_empty() {
        // Without files, veraPDF reads its standard input.
        return BTreeMap::new();
    }
    let home = std::env::var("HOME").expect("a home folder");
    let library = Path::new(&home).join(".cache/platen/verapdf/lib");
    assert!(
        library.is_dir(),
        "no veraPDF in {}; deploy/setup.sh --test installs it",
        library.display()
    );
    let output = Command::new("java")
        .args(["-Xmx1g", "-cp"])
        .arg(library.join("*"))
        .arg("org.verapdf.apps.GreenfieldCliWrapper")
        .args(["--flavour", flavour, "--format", "text", "--verbose"])
        .args(files)
        .output()
        .unwrap_or_else(|error| panic!("java: {error}; deploy/setup.sh --test installs it"));
    let report = String::from_utf8_lossy(&output.stdout);
    let mut refusals: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut current = PathBuf::new();
    let end = format!(" {flavour}");
    for line in report.lines() {
        // "PASS /path 2b" or "FAIL /path 2b", the latter followed by one line per clause.
        let file = |verdict: &str| line.strip_prefix(verdict)?.strip_suffix(&end);
        if let Some(file) = file("PASS ") {
            refusals.insert(file.into(), Vec::new());
        } else if let Some(file) = file("FAIL ") {
            current = file.into();
            refusals.insert(current.clone(), vec!["refused".to_owned()]);
        } else if let Some(clauses) = refusals.get_mut(&current) {
            clauses.push(line.trim().to_owned());
        }
    }
    for file in files {
        // A file that veraPDF can't read.
        let unread = || vec![format!("not checked: {}", String::from_utf8_lossy(&output.stderr))];
        refusals.entry(file.clone()).or_insert_with(unread);
    }
    refusals
}
