//! Server functions of the page that completes a sign-up.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Completes a sign-up. Public: token and password are the authorization.
#[server(prefix = "/web", endpoint = "verify-sign-up")]
pub async fn verify_sign_up(
    /// Token of the link.
    token: String,
    /// Password that was chosen at sign-up.
    password: String,
) -> Result<(), AppError> {
    backend().verify_sign_up(token, password).await?;
    leave_for(&OwnPath::after_log_in(None))
}
