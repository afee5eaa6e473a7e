//! The operator pages. For anyone else, every method returns [`AppError::NotFound`].

pub mod accounts;
pub mod announcements;
pub mod audit_log;
pub mod failed_jobs;
pub mod health;

use async_trait::async_trait;

use crate::{error::AppError, model::admin::OperatorStanding};

/// Operators of the service.
#[async_trait]
pub trait AdminBackend: Send + Sync {
    /// Returns the logged-in operator and a summary of the service's health.
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError>;
}
