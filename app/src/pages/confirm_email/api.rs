//! Server functions of the page that confirms a new address.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Confirms a new address, for the user who requested the link.
#[server(prefix = "/web", endpoint = "confirm-email")]
pub async fn confirm_email(
    /// Token of the link.
    token: String,
) -> Result<(), AppError> {
    backend().confirm_email(token).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=email-confirmed"))
}
