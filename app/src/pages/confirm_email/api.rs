//! What the page behind the link to another address asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// For the person who has asked for the link.
#[server(prefix = "/web", endpoint = "confirm-email")]
pub async fn confirm_email(
    /// Of the link.
    token: String,
) -> Result<(), AppError> {
    backend().confirm_email(token).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=email-confirmed"));
    Ok(())
}
