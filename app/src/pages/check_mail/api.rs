//! What the page after a sign-up asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// For everybody: whether somebody has signed up shows in no answer.
#[server(prefix = "/web", endpoint = "send-sign-up-again")]
pub async fn send_sign_up_again(
    /// With which they have signed up.
    email: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let sent = backend().send_sign_up_again(email).await;
    sent.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/check-mail?sent=again"));
    Ok(())
}
