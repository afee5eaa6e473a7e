//! What the page after a sign-up asks of the server.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    backend::{backend, leave_for},
    model::{own_path::OwnPath, rejection::Field},
};
use crate::{csrf::PageClient, error::AppError};

/// For everybody: whether somebody has signed up shows in no answer. Answers where to go.
#[server(prefix = "/web", endpoint = "send-sign-up-again", client = PageClient)]
pub async fn send_sign_up_again(
    /// With which they have signed up.
    email: String,
) -> Result<String, AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let sent = backend().send_sign_up_again(email).await;
    sent.map_err(|error| error.with_typed(typed))?;
    Ok(leave_for(&OwnPath::to("/check-mail?sent=again")))
}
