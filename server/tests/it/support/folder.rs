//! Temporary folders that the service's unprivileged users can reach.

use std::{fs, os::unix::fs::PermissionsExt};

use tempfile::TempDir;

/// An empty folder, removed with the value.
pub(crate) fn temporary() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("platen-test-")
        .tempdir()
        .expect("a temporary folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).expect("our own folder");
    folder
}
