//! What the operators' pages ask. For everybody else there is nothing: they get [`AppError::NotFound`].

pub mod accounts;
pub mod announcements;
pub mod audit_log;
pub mod failed_work;
pub mod health;

use async_trait::async_trait;

use crate::{error::AppError, model::admin::OperatorStanding};

/// Those who run the service.
#[async_trait]
pub trait AdminBackend: Send + Sync {
    /// Who is logged in.
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError>;
}
