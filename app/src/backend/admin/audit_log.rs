//! What operators ask about the log of what they did.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::audit_log::{AuditPage, AuditSearch},
};

/// The log of what operators and the service did to accounts.
#[async_trait]
pub trait AuditBackend: Send + Sync {
    /// The latest first.
    async fn audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError>;
}
