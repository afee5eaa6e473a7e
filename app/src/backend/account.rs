//! The part of [`Backend`](super::Backend) for the account.

use async_trait::async_trait;
use platen_domain::{
    ids::{AnnouncementId, ApiKeyId},
    role::Role,
};

use crate::{
    error::AppError,
    model::{
        account_summary::AccountSummary,
        overview::{Activity, Span},
        usage::Usage,
    },
};

/// The account of the logged-in user. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait AccountBackend: Send + Sync {
    /// Returns the logged-in user, the account and what its pages show everywhere.
    async fn summary(&self) -> Result<AccountSummary, AppError>;

    /// Returns the role of the logged-in user in the account.
    async fn role(&self) -> Result<Role, AppError>;

    /// Returns the account's renders and figures over `span`. A key that was just created is included with the
    /// checklist, once.
    async fn activity(&self, span: Span, new_key: Option<ApiKeyId>) -> Result<Activity, AppError>;

    /// Dismisses the checklist of the first steps for the logged-in user.
    async fn dismiss_checklist(&self) -> Result<(), AppError>;

    /// Returns the credits used in this period, by day.
    async fn usage(&self) -> Result<Usage, AppError>;

    /// Hides an announcement for the logged-in user.
    async fn hide_announcement(&self, id: AnnouncementId) -> Result<(), AppError>;
}
