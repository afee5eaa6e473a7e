//! What the page behind the link to another password asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::own_path::OwnPath,
};
use crate::{csrf::PageClient, error::AppError};

/// For whoever has the link. Answers where to go.
#[server(prefix = "/web", endpoint = "reset-password", client = PageClient)]
pub async fn reset_password(
    /// Of the link.
    token: String,
    /// What they choose.
    password: String,
) -> Result<String, AppError> {
    backend().reset_password(token, password).await?;
    Ok(leave_for(&OwnPath::to("/log-in")))
}
