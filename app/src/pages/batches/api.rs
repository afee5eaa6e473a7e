//! Server functions of the pages of batches.

use leptos::prelude::*;
use platen_domain::ids::BatchId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        batch::{BatchChange, NewBatchForm},
        own_path::OwnPath,
    },
    pages::batches::{PATH, page_of},
};

/// Creates a batch of the logged-in user's account. Redirects to its page, which takes the rows.
#[server(prefix = "/web", endpoint = "create-batch")]
pub async fn create_batch(
    /// Name of the batch.
    name: String,
    /// Id of the template.
    #[server(default)]
    batch_template: String,
    /// Id of a storage connection; empty for the default storage.
    #[server(default)]
    batch_storage: String,
    /// Path of each document, with placeholders.
    #[server(default)]
    document_path: String,
    /// Name of each document in the ZIP archive, with placeholders.
    #[server(default)]
    file_names: String,
    /// `live` or `test`; live if it is missing.
    #[server(default)]
    batch_mode: String,
) -> Result<(), AppError> {
    let form = NewBatchForm {
        name,
        template: batch_template,
        storage: batch_storage,
        path: document_path,
        file_names,
        mode: batch_mode,
    };
    let id = backend().create_batch(form).await?;
    leave_for(after(id, "created"))
}

/// Changes the state of a batch of the logged-in user's account.
#[server(prefix = "/web", endpoint = "change-batch")]
pub async fn change_batch(
    /// Id of the batch.
    id: BatchId,
    change: BatchChange,
) -> Result<(), AppError> {
    backend().change_batch(id, change).await?;
    let word = match change {
        BatchChange::Pause => "paused",
        BatchChange::Resume => "resumed",
        BatchChange::Cancel => "cancelled",
        BatchChange::Retry => "retried",
    };
    leave_for(after(id, word))
}

/// Changes the members that the columns of a batch become.
#[server(prefix = "/web", endpoint = "set-batch-columns")]
pub async fn set_batch_columns(
    /// Id of the batch.
    id: BatchId,
    /// The member of each column, in their order; empty if the column stays as it is.
    #[server(default)]
    batch_members: Vec<String>,
) -> Result<(), AppError> {
    backend().set_batch_columns(id, batch_members).await?;
    leave_for(after(id, "mapped"))
}

/// Returns the page of a batch with the word for a completed action.
pub fn after(id: BatchId, done: &str) -> OwnPath {
    OwnPath::parse(&format!("{}?done={done}", page_of(id))).unwrap_or_else(|| PATH.into())
}
