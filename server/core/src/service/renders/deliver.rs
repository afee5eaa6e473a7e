//! Delivery of documents of asynchronous renders.

use std::time::Instant;

use bytes::Bytes;
use platen_domain::{destination::Destination, ids::AccountId};
use uuid::Uuid;

use crate::{
    clock,
    service::{Services, connections::delivery, renders::retention::DOCUMENT_LIFETIME},
    storage::{bucket::BucketError, default_storage::DefaultStorageError},
    store::renders::documents::StoredDocument,
};

/// Error of delivering a document.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The default storage failed.
    #[error("the document could not be stored: {0}")]
    Own(#[from] DefaultStorageError),
    /// The client's store refused it or failed.
    #[error(transparent)]
    Client(#[from] BucketError),
}

/// Writes a document to the default storage. Idempotent.
pub(super) async fn deliver(app: &Services, object: Uuid, pdf: Bytes) -> Result<StoredDocument, DeliveryError> {
    let (now, started) = (clock::now(), Instant::now());
    Ok(StoredDocument {
        result: app.documents.put(object, pdf, &app.base_url, now).await?,
        expires_at: Some(now + DOCUMENT_LIFETIME),
        took: started.elapsed(),
    })
}

/// Writes a document to its destination in a client's store. A repetition writes the same object.
pub(super) async fn deliver_to_client(
    app: &Services,
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

/// Removes a document whose render failed after the delivery.
pub(super) async fn take_back(app: &Services, object: Uuid) {
    if let Err(error) = app.documents.remove([object]).await {
        tracing::warn!(%error, %object, "document of a failed render could not be removed");
    }
}
