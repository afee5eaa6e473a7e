//! How the service is.

use async_trait::async_trait;

use crate::{error::AppError, model::admin::health::Health};

/// How the service is, for operators.
#[async_trait]
pub trait HealthBackend: Send + Sync {
    /// How everything is; of what processes do, only what this one does, if it is given and there is such a process.
    async fn health(&self, process: Option<String>) -> Result<Health, AppError>;
}
