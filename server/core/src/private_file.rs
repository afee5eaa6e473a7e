//! Files that only this process's user may read, written atomically.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// The suffix of files that are still being written.
const DRAFT: &str = ".new";

/// Writes or replaces a file, and returns once it is synced to disk under its name.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut draft = OsString::from(path);
    draft.push(DRAFT);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
