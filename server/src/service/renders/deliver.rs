//! Finished documents are put where they belong.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    clock,
    domain::{destination::Destination, ids::AccountId},
    service::{connections::delivery, renders::retention::DOCUMENT_LIFETIME},
    state::AppState,
    storage::{bucket::BucketError, default_storage::DefaultStorageError},
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

/// A document where it belongs.
pub(super) struct Delivered {
    /// What the store says of it.
    pub(super) result: Value,
    /// When it is deleted there, if that is ours to do.
    pub(super) expires_at: Option<OffsetDateTime>,
}

/// Puts a document into the service's own storage. Doing it again changes nothing.
pub(super) async fn deliver(app: &AppState, object: Uuid, pdf: Vec<u8>) -> Result<Delivered, DeliveryError> {
    let now = clock::now();
    Ok(Delivered {
        result: app.documents.put(object, pdf.into(), &app.base_url, now).await?,
        expires_at: Some(now + DOCUMENT_LIFETIME),
    })
}

/// Puts a document into a client's store. Doing it again writes the same object.
pub(super) async fn deliver_to_client(
    app: &AppState,
    account: AccountId,
    destination: &Destination,
    pdf: Vec<u8>,
) -> Result<Delivered, DeliveryError> {
    let result = delivery::deliver(&app.buckets, account, destination, pdf.into()).await?;
    Ok(Delivered {
        result,
        expires_at: None,
    })
}

/// Takes back a document whose render has failed after all.
pub(super) async fn take_back(app: &AppState, object: Uuid) {
    if let Err(error) = app.documents.remove([object]).await {
        tracing::warn!(%error, %object, "a document that nobody paid for could not be removed");
    }
}
