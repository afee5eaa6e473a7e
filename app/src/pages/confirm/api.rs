//! Server functions of the confirmation page.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, person::Proof},
};

/// Confirms the logged-in user's identity by one proof. Redirects to `next` if it is a path of this service.
#[server(prefix = "/web", endpoint = "confirm")]
pub async fn confirm(
    /// Password of the user.
    password: Option<String>,
    /// Code of the second factor.
    code: Option<String>,
    /// Response of a passkey, as JSON.
    passkey: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let proof = match (password, code, passkey) {
        (Some(password), None, None) => Proof::Password(password),
        (None, Some(code), None) => Proof::Code(code),
        (None, None, Some(answer)) => Proof::Passkey(answer),
        _ => return Err(AppError::Malformed),
    };
    backend().confirm(proof).await?;
    leave_for(&OwnPath::after_log_in(next.as_deref()))
}
