//! The logged-in user's account.

use async_trait::async_trait;
use platen_domain::role::Role;

use crate::{
    error::AppError,
    model::{
        account_summary::AccountSummary,
        overview::{Activity, Span},
        usage::Usage,
    },
};

/// Reads the state of the account.
#[async_trait]
pub trait AccountBackend: Send + Sync {
    /// Returns the logged-in user, the account and what its pages show everywhere.
    async fn summary(&self) -> Result<AccountSummary, AppError>;

    /// Returns the role of the logged-in user in the account.
    async fn role(&self) -> Result<Role, AppError>;

    /// Returns the account's renders and figures over `span`.
    async fn activity(&self, span: Span) -> Result<Activity, AppError>;

    /// Returns the credits used in this period, by day.
    async fn usage(&self) -> Result<Usage, AppError>;
}
