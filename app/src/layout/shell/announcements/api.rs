//! Server functions of announcements.

use leptos::prelude::*;
use platen_domain::ids::AnnouncementId;

use crate::{backend::backend, error::AppError};

/// Hides an announcement for the logged-in user, and reloads the page.
#[server(prefix = "/web", endpoint = "hide-announcement")]
pub async fn hide_announcement(
    /// Id of the announcement.
    subject: AnnouncementId,
) -> Result<(), AppError> {
    backend().hide_announcement(subject).await
}
