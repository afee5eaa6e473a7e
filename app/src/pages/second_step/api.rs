//! Server functions of the second step of a log-in.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, person::SecondStepProof},
};

/// Completes the log-in of a visitor who has entered their password. Redirects to `next` if it is a path of this
/// service.
#[server(prefix = "/web", endpoint = "show-second-factor")]
pub async fn show_second_factor(
    /// Code of the authenticator app.
    code: Option<String>,
    /// Recovery code, instead of a code of the app.
    recovery_code: Option<String>,
    /// Response of a passkey, as JSON. Empty if none was used.
    passkey: Option<String>,
    /// Present if this browser skips the second step for a while.
    remember: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let passkey = passkey.filter(|answer| !answer.is_empty());
    let proof = match (passkey, code, recovery_code) {
        // The form also has a field for the code, which stays empty.
        (Some(answer), _, None) => SecondStepProof::Passkey(answer),
        (None, Some(code), None) => SecondStepProof::App(code),
        (None, None, Some(code)) => SecondStepProof::Recovery(code),
        _ => return Err(AppError::Malformed),
    };
    backend().log_in_by_second_factor(proof, remember.is_some()).await?;
    leave_for(&OwnPath::after_log_in(next.as_deref()))
}
