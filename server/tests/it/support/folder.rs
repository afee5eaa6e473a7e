//! Temporary folders that are accessible to the service's unprivileged users.

use std::{fs, os::unix::fs::PermissionsExt};

use tempfile::TempDir;

/// Creates an empty folder, deleted on drop.
pub(crate) fn temporary() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("platen-test-")
        .tempdir()
        .expect("a temporary folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).expect("our own folder");
    folder
}
