//! What the page behind the link to another address asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::own_path::OwnPath,
};
use crate::{csrf::PageClient, error::AppError};

/// For the person who has asked for the link. Answers where to go.
#[server(prefix = "/web", endpoint = "confirm-email", client = PageClient)]
pub async fn confirm_email(
    /// Of the link.
    token: String,
) -> Result<String, AppError> {
    backend().confirm_email(token).await?;
    Ok(leave_for(&OwnPath::after_log_in(None)))
}
