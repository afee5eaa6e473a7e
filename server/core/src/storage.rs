//! Storage of documents: the data folder, and buckets.

pub mod aws_s3;
pub mod bucket;
pub mod default_storage;
pub mod documents;
pub mod google_cloud_storage;
pub mod object_stores;

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Creates a folder in the data folder that only the service can read, unless it exists.
pub(crate) fn private_folder(data_folder: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = data_folder.join(name);
    // Other users may have to traverse the data folder.
    DirBuilder::new().recursive(true).mode(0o711).create(data_folder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Removes a file; succeeds if it does not exist.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes files of a folder that were last written before `time`, incomplete ones included.
fn remove_written_before(folder: &Path, time: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may have just removed it.
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        if written.is_ok_and(|written| written < time) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}
