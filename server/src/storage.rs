//! Where documents and answers are kept: the data folder, and buckets of others.

pub mod answers;
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

/// Makes a folder of the service's own in the data folder, unless it is there.
fn private_folder(data_folder: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = data_folder.join(name);
    // Others may have to pass through the data folder.
    DirBuilder::new().recursive(true).mode(0o711).create(data_folder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}
