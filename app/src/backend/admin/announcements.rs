//! What is asked about announcements.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::announcement::{AnnouncementForm, ListedAnnouncement},
};

/// What operators tell everybody who works in the dashboard.
#[async_trait]
pub trait AnnouncementBackend: Send + Sync {
    /// All of them, for operators, those first that begin or have begun last.
    async fn announcements(&self) -> Result<Vec<ListedAnnouncement>, AppError>;

    /// Tells something; operators may.
    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError>;

    /// Ends one, or keeps it from beginning; operators may.
    async fn end_announcement(&self, id: String) -> Result<(), AppError>;

    /// Lets the person who is logged in not see one any more.
    async fn hide_announcement(&self, id: String) -> Result<(), AppError>;
}
