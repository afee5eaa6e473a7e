//! Server functions of the page after a sign-up.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

/// Mails the sign-up link again. Public: the response doesn't reveal whether a sign-up is pending.
#[server(prefix = "/web", endpoint = "send-sign-up-again")]
pub async fn send_sign_up_again(
    /// Address that was used to sign up.
    email: String,
) -> Result<(), AppError> {
    backend().send_sign_up_again(email).await?;
    leave_for(&OwnPath::to("/check-mail?sent=again"))
}
