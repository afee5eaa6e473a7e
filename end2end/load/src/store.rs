//! `MinIO` as a store of documents, with its data in a temporary folder.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{error::LoadError, tool::Tool};

pub(crate) const ACCESS_KEY_ID: &str = "platen";
pub(crate) const SECRET_ACCESS_KEY: &str = "platen-secret";

/// A running `MinIO`, which is killed when dropped.
pub(crate) struct Store(Tool);

impl Store {
    /// Starts the store and waits until it answers.
    pub(crate) async fn start() -> Result<Self, LoadError> {
        let tool = Tool::start(
            "MinIO",
            "stores/minio",
            "/minio/health/live",
            |command, address, folder| {
                command
                    .arg("server")
                    .arg(data(folder))
                    .args(["--address", &address.to_string()])
                    .env("MINIO_ROOT_USER", ACCESS_KEY_ID)
                    .env("MINIO_ROOT_PASSWORD", SECRET_ACCESS_KEY)
                    .env("MINIO_BROWSER", "off");
            },
        );
        Ok(Self(tool.await?))
    }

    /// Returns the endpoint for storage connections.
    pub(crate) fn endpoint(&self) -> &str {
        &self.0.url
    }

    /// Creates a bucket, which is a folder of the store.
    pub(crate) fn create_bucket(&self, name: &str) -> io::Result<()> {
        fs::create_dir(data(self.0.folder()).join(name))
    }

    /// Returns the names of a bucket's objects that lie directly in `folder`; each has an entry of its own there.
    pub(crate) fn list_objects(&self, bucket: &str, folder: &str) -> io::Result<HashSet<String>> {
        list_entries(&data(self.0.folder()).join(bucket).join(folder))
    }

    /// Stops the store and removes its data.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.0.stop().await
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Returns the names of a folder's entries.
pub(crate) fn list_entries(folder: &Path) -> io::Result<HashSet<String>> {
    let entries = fs::read_dir(folder)?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Returns the access key of the store as credentials of a storage connection.
pub(crate) fn access_key() -> Value {
    json!({ "access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY })
}
