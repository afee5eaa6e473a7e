//! Storage of documents: the data folder, and buckets.

pub mod aws_s3;
pub mod bucket;
pub mod default_storage;
pub mod documents;
pub mod google_cloud_storage;
pub mod object_stores;

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Creates a folder in the data folder that only the service can read, unless it exists.
pub(crate) fn private_folder(data_folder: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = data_folder.join(name);
    // Other users may have to traverse the data folder.
    DirBuilder::new().recursive(true).mode(0o711).create(data_folder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}
