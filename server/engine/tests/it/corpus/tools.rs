//! Runs third-party programs.

use std::{path::Path, process::Command};

/// Runs a program on a file and returns its output. Panics if it fails.
pub(super) fn output(program: &str, options: &[&str], file: &Path, more: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(options).arg(file).args(more).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; deploy/setup.sh --test installs it"));
    assert!(
        output.status.success(),
        "{program} {}: {}",
        file.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}
