//! Server functions of the page that sets a new password.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Replaces a password. Public: the token is the authorization.
#[server(prefix = "/web", endpoint = "reset-password")]
pub async fn reset_password(
    /// Token of the link.
    token: String,
    /// The new password.
    password: String,
) -> Result<(), AppError> {
    backend().reset_password(token, password).await?;
    leave_for(&OwnPath::to("/log-in?done=password"))
}
