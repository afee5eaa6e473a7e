//! Announcements in the dashboard.

use async_trait::async_trait;
use platen_domain::announcement::{Announcement, AnnouncementForm};
use time::OffsetDateTime;

use crate::error::AppError;

/// Announcements of operators to everyone who uses the dashboard.
#[async_trait]
pub trait AnnouncementBackend: Send + Sync {
    /// Lists all announcements for operators, ordered by start, the latest first. Also returns the current time.
    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError>;

    /// Creates an announcement. Operators only.
    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError>;

    /// Ends a current announcement, or cancels a scheduled one. Operators only.
    async fn end_announcement(&self, id: String) -> Result<(), AppError>;

    /// Hides an announcement for the logged-in user.
    async fn hide_announcement(&self, id: String) -> Result<(), AppError>;
}
