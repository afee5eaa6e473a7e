//! Server functions of the page that requests a password reset.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Mails a password reset link. Public: the response doesn't reveal whether the address has an account.
#[server(prefix = "/web", endpoint = "request-password-reset")]
pub async fn request_password_reset(
    /// Email address of the user.
    email: String,
) -> Result<(), AppError> {
    backend().request_password_reset(email).await?;
    leave_for(&OwnPath::to("/check-mail?for=password"))
}
