//! What the page behind the link of a sign-up asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::own_path::OwnPath,
};
use crate::{csrf::PageClient, error::AppError};

/// For whoever has the link and knows the password. Answers where to go.
#[server(prefix = "/web", endpoint = "verify-sign-up", client = PageClient)]
pub async fn verify_sign_up(
    /// Of the link.
    token: String,
    /// The one that was chosen.
    password: String,
) -> Result<String, AppError> {
    backend().verify_sign_up(token, password).await?;
    Ok(leave_for(&OwnPath::after_log_in(None)))
}
