//! Files that only this process's user may read, written as a whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// Ends the name of a file that is not complete yet.
pub const DRAFT: &str = ".new";

/// Writes a file, or replaces it, and waits until it is on the disk under its name.
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
