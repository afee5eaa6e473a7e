//! What the page behind the link of a sign-up asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// For whoever has the link and knows the password.
#[server(prefix = "/web", endpoint = "verify-sign-up")]
pub async fn verify_sign_up(
    /// Of the link.
    token: String,
    /// The one that was chosen.
    password: String,
) -> Result<(), AppError> {
    backend().verify_sign_up(token, password).await?;
    leave_for(&OwnPath::after_log_in(None));
    Ok(())
}
