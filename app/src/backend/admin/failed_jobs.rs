//! Failed jobs, as operators see them.

use async_trait::async_trait;
use platen_domain::failed_jobs::Done;

use crate::{
    error::AppError,
    model::admin::failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
};

/// Failed jobs of all accounts.
#[async_trait]
pub trait FailedWorkBackend: Send + Sync {
    /// Lists failed jobs, the latest failure first.
    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError>;

    /// Retries the chosen jobs at once.
    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;

    /// Discards the chosen jobs.
    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;
}
