//! What the page asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for, second_factor::Proof},
    error::AppError,
    model::own_path::OwnPath,
};

/// For the person who is logged in. Leads to `next`, if it is a path of ours.
#[server(prefix = "/web", endpoint = "confirm")]
pub async fn confirm(
    /// Theirs.
    password: Option<String>,
    /// Of their second factor.
    code: Option<String>,
    /// What a passkey of theirs has answered.
    passkey: Option<String>,
    /// Where to go afterwards.
    next: Option<String>,
) -> Result<(), AppError> {
    let proof = match (password, code, passkey) {
        (Some(password), None, None) => Proof::Password(password),
        (None, Some(code), None) => Proof::Code(code),
        (None, None, Some(answer)) => Proof::Passkey(answer),
        _ => return Err(AppError::Malformed),
    };
    backend().confirm(proof).await?;
    leave_for(&OwnPath::after_log_in(next.as_deref()));
    Ok(())
}
