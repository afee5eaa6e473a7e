//! What the second step of a log-in asks of the server.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for, people::SecondStepProof},
    error::AppError,
    model::own_path::OwnPath,
};

/// For those who have shown their password. Leads to `next`, if it is a path of ours.
#[server(prefix = "/web", endpoint = "show-second-factor")]
pub async fn show_second_factor(
    /// What their app shows.
    code: Option<String>,
    /// What stands in for it.
    recovery_code: Option<String>,
    /// What a passkey has answered; empty where none was asked.
    passkey: Option<String>,
    /// There if this browser is not to be asked again for a while.
    remember: Option<String>,
    /// Where to go afterwards.
    next: Option<String>,
) -> Result<(), AppError> {
    let passkey = passkey.filter(|answer| !answer.is_empty());
    let proof = match (passkey, code, recovery_code) {
        // The form has a field for the code as well, which stays empty.
        (Some(answer), _, None) => SecondStepProof::Passkey(answer),
        (None, Some(code), None) => SecondStepProof::App(code),
        (None, None, Some(code)) => SecondStepProof::Recovery(code),
        _ => return Err(AppError::Malformed),
    };
    backend().log_in_by_second_factor(proof, remember.is_some()).await?;
    leave_for(&OwnPath::after_log_in(next.as_deref()));
    Ok(())
}
