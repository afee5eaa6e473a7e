//! Checks the default storage, by the same operations as renders and readers of documents.

use axum::body::Bytes;
use platen_core::{
    clock,
    config::Config,
    storage::{
        default_storage::{DefaultStorage, DefaultStorageError},
        object_stores::ObjectStores,
    },
};
use uuid::Uuid;

use crate::{boot::browser, cli::doctor::Finding};

const SUBJECT: &str = "Storage";
const CONTENT: &[u8] = b"%PDF-1.7\n% Platen checks whether it can write here.\n%%EOF\n";

/// What reading by the service is for.
const READ: &str =
    "allow the service to read objects under renders/: links, archives of batches and thumbnails need it";

/// Checks a bucket; the data folder is checked with the disks.
pub(super) async fn look(config: &Config) -> Vec<Finding> {
    if config.storage.default.bucket.is_none() {
        return vec![Finding::fine(SUBJECT, "documents are stored in the data folder")];
    }
    match try_bucket(config).await {
        Ok(findings) => findings,
        Err(error) => vec![Finding::broken(
            SUBJECT,
            format!("documents can't be written: {error}"),
            "check PLATEN_DEFAULT_BUCKET and its related settings, and that the service may write objects there; \
             docs/default-storage.md lists the permissions",
        )],
    }
}

async fn try_bucket(config: &Config) -> Result<Vec<Finding>, DefaultStorageError> {
    let default = &config.storage.default;
    let stores = ObjectStores::new(browser::guard(config), &config.storage);
    let stores = stores.map_err(std::io::Error::other)?;
    let storage = DefaultStorage::open(&config.data.folder, default, &stores).await?;
    let id = Uuid::new_v4();
    let base_url = config.http.base_url_for(config.http.listen);
    let resource = storage
        .put(id, Bytes::from_static(CONTENT), &base_url, clock::now())
        .await?;
    let written = Finding::fine(SUBJECT, format!("documents are written to the bucket {}", default.name));
    let address = resource["mediaLink"].as_str().unwrap_or_default();
    let found = match is_public(address).await {
        Ok(()) => Finding::fine(SUBJECT, "the public can read them"),
        Err(reason) => Finding::warning(
            SUBJECT,
            format!("the public can't read {address}: {reason}"),
            "allow public reading, but not listing, of objects under renders/; see docs/default-storage.md",
        ),
    };
    let read = match storage.read(id, CONTENT.len() as u64).await {
        Ok(Some(content)) if content == CONTENT => Finding::fine(SUBJECT, "the service can read them"),
        Ok(_) => Finding::warning(SUBJECT, "the service finds no document that it has written", READ),
        Err(error) => Finding::warning(SUBJECT, format!("the service can't read them: {error}"), READ),
    };
    let deleted = match storage.remove([id]).await {
        Ok(()) => Finding::fine(SUBJECT, "they can be deleted"),
        Err(error) => Finding::warning(
            SUBJECT,
            format!("they can't be deleted: {error}"),
            "allow the service to delete objects there, or add a lifecycle rule that deletes them",
        ),
    };
    Ok(vec![written, found, read, deleted])
}

async fn is_public(address: &str) -> Result<(), String> {
    let answer = reqwest::get(address).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    if !status.is_success() {
        return Err(format!("it responds with status {status}"));
    }
    match answer.bytes().await {
        Ok(content) if content == CONTENT => Ok(()),
        Ok(_) => Err("it returned different content".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
