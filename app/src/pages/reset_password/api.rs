//! What the page behind the link to another password asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// For whoever has the link.
#[server(prefix = "/web", endpoint = "reset-password")]
pub async fn reset_password(
    /// Of the link.
    token: String,
    /// What they choose.
    password: String,
) -> Result<(), AppError> {
    backend().reset_password(token, password).await?;
    leave_for(&OwnPath::to("/log-in?done=password"));
    Ok(())
}
