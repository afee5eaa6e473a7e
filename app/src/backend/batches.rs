//! The part of [`Backend`](super::Backend) for batches.

use async_trait::async_trait;
use platen_domain::{batch::Batch, ids::BatchId, page::Page};

use crate::{
    error::AppError,
    model::batch::{BatchChange, BatchChoices, BatchDetail, NewBatchForm},
};

/// Batches of the logged-in user's account. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait BatchBackend: Send + Sync {
    /// Returns a page of batches, the newest first.
    async fn batches(&self, after: Option<BatchId>) -> Result<Page<Batch, BatchId>, AppError>;

    /// Returns a batch with the outcomes of its first rows, the form that led to the page if it was rejected, and its columns until it
    /// begins.
    async fn batch(&self, id: BatchId) -> Result<BatchDetail, AppError>;

    /// Returns what a new batch may render, and where its documents may go.
    async fn batch_choices(&self) -> Result<BatchChoices, AppError>;

    /// Creates a batch, which waits for its rows, and returns its id.
    async fn create_batch(&self, form: NewBatchForm) -> Result<BatchId, AppError>;

    /// Changes the state of a batch.
    async fn change_batch(&self, id: BatchId, change: BatchChange) -> Result<(), AppError>;

    /// Changes the members that the columns of a batch become: one for each column, empty if the column stays as it is.
    async fn set_batch_columns(&self, id: BatchId, members: Vec<String>) -> Result<(), AppError>;
}
