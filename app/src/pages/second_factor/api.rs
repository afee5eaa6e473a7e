//! What is asked of the server about the second factor. All of it is for the person who is logged in.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::{OwnPath, SECOND_FACTOR},
};

/// Makes a secret for their app.
#[server(prefix = "/web", endpoint = "begin-second-factor")]
pub async fn begin_second_factor() -> Result<(), AppError> {
    backend().begin_second_factor().await?;
    leave_for(&OwnPath::to(SECOND_FACTOR));
    Ok(())
}

/// Turns it on.
#[server(prefix = "/web", endpoint = "turn-second-factor-on")]
pub async fn turn_second_factor_on(
    /// What the app shows.
    code: String,
) -> Result<(), AppError> {
    backend().turn_second_factor_on(code).await?;
    leave_for(&OwnPath::to(SECOND_FACTOR));
    Ok(())
}

/// Turns it off.
#[server(prefix = "/web", endpoint = "turn-second-factor-off")]
pub async fn turn_second_factor_off() -> Result<(), AppError> {
    backend().turn_second_factor_off().await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=factor-off"));
    Ok(())
}

/// Makes recovery codes in place of those that are left.
#[server(prefix = "/web", endpoint = "renew-recovery-codes")]
pub async fn renew_recovery_codes() -> Result<(), AppError> {
    backend().renew_recovery_codes().await?;
    leave_for(&OwnPath::to(SECOND_FACTOR));
    Ok(())
}

/// Has a browser asked for it again.
#[server(prefix = "/web", endpoint = "forget-device")]
pub async fn forget_device(
    /// Which one.
    subject: String,
) -> Result<(), AppError> {
    backend().forget_device(subject).await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=device"));
    Ok(())
}
