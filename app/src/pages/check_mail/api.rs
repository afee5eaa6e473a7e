//! Server functions of the page after a sign-up.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
};

/// Mails the sign-up link again. Public: the response doesn't reveal whether a sign-up is pending.
#[server(prefix = "/web", endpoint = "send-sign-up-again")]
pub async fn send_sign_up_again(
    /// Address that was used to sign up.
    email: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Email, email.clone())];
    let sent = backend().send_sign_up_again(email).await;
    sent.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/check-mail?sent=again"));
    Ok(())
}
