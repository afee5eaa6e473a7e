//! The operator audit log.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::audit_log::{AuditPage, AuditSearch},
};

/// The log of actions of operators and of the service on accounts.
#[async_trait]
pub trait AuditBackend: Send + Sync {
    /// Returns a page of audit events, the latest first.
    async fn audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError>;
}
