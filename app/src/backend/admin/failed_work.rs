//! What operators ask about work that fails.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::failed_work::{BulkOutcome, ChosenWork, FailedWorkPage, FailedWorkSearch},
};

/// Work that fails, of all accounts.
#[async_trait]
pub trait FailedWorkBackend: Send + Sync {
    /// What failed last first.
    async fn failed_work(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError>;

    /// Lets it be tried again at once.
    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<BulkOutcome, AppError>;

    /// Ends it.
    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<BulkOutcome, AppError>;
}
