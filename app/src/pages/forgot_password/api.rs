//! What the page for forgotten passwords asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// For everybody: whether the address has an account shows in no answer.
#[server(prefix = "/web", endpoint = "request-password-reset")]
pub async fn request_password_reset(
    /// Log-in name.
    email: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let asked = backend().request_password_reset(email).await;
    asked.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/check-mail?for=password"));
    Ok(())
}
