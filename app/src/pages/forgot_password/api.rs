//! What the page for forgotten passwords asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::{own_path::OwnPath, rejection::Field},
};
use crate::{csrf::PageClient, error::AppError};

/// For everybody: whether the address has an account shows in no answer. Answers where to go.
#[server(prefix = "/web", endpoint = "request-password-reset", client = PageClient)]
pub async fn request_password_reset(
    /// Log-in name.
    email: String,
) -> Result<String, AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let asked = backend().request_password_reset(email).await;
    asked.map_err(|error| error.with_typed(typed))?;
    Ok(leave_for(&OwnPath::to("/check-mail?for=password")))
}
