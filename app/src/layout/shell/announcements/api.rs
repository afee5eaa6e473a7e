//! What announcements ask of the server.

use leptos::prelude::*;

use crate::{backend::backend, error::AppError};

/// For the person who is logged in: they do not see it any more. The page that they were on follows.
#[server(prefix = "/web", endpoint = "hide-announcement")]
pub async fn hide_announcement(
    /// Its id.
    subject: String,
) -> Result<(), AppError> {
    backend().hide_announcement(subject).await
}
