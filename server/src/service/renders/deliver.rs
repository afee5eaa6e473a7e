//! Finished documents are put where they belong.

use std::time::Instant;

use axum::body::Bytes;
use uuid::Uuid;

use crate::{
    clock,
    domain::{destination::Destination, ids::AccountId},
    service::{connections::delivery, renders::retention::DOCUMENT_LIFETIME},
    state::AppState,
    storage::{bucket::BucketError, default_storage::DefaultStorageError},
    store::renders::documents::StoredDocument,
};

/// Why a document is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// It is not in the service's own storage.
    #[error("the document could not be stored: {0}")]
    Own(#[from] DefaultStorageError),
    /// It is not in the client's store.
    #[error(transparent)]
    Client(#[from] BucketError),
}

/// Puts a document into the service's own storage. Doing it again changes nothing.
pub(super) async fn deliver(app: &AppState, object: Uuid, pdf: Bytes) -> Result<StoredDocument, DeliveryError> {
    let (now, started) = (clock::now(), Instant::now());
    Ok(StoredDocument {
        result: app.documents.put(object, pdf, &app.base_url, now).await?,
        expires_at: Some(now + DOCUMENT_LIFETIME),
        took: started.elapsed(),
    })
}

/// Puts a document into a client's store. Doing it again writes the same object.
pub(super) async fn deliver_to_client(
    app: &AppState,
    account: AccountId,
    destination: &Destination,
    pdf: Bytes,
) -> Result<StoredDocument, DeliveryError> {
    let started = Instant::now();
    let result = delivery::deliver(&app.buckets, account, destination, pdf).await?;
    Ok(StoredDocument {
        result,
        expires_at: None,
        took: started.elapsed(),
    })
}

/// Takes back a document whose render has failed after all.
pub(super) async fn take_back(app: &AppState, object: Uuid) {
    if let Err(error) = app.documents.remove([object]).await {
        tracing::warn!(%error, %object, "a document that nobody paid for could not be removed");
    }
}
