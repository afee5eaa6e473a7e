//! Health of the service.

use async_trait::async_trait;

use crate::{error::AppError, model::admin::health::Health};

/// Health of the service, for operators.
#[async_trait]
pub trait HealthBackend: Send + Sync {
    /// Returns the health of all parts. With the id of a known process, activity is limited to that process.
    async fn health(&self, process: Option<String>) -> Result<Health, AppError>;
}
