//! What is asked of the server about the second factor. All of it is for the person who is logged in.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::{OwnPath, PASSKEY, SECOND_FACTOR},
        rejection::Field,
    },
};

/// Makes a secret for their app.
#[server(prefix = "/web", endpoint = "begin-second-factor")]
pub async fn begin_second_factor() -> Result<(), AppError> {
    backend().begin_second_factor().await?;
    leave_for(&OwnPath::to(SECOND_FACTOR));
    Ok(())
}

/// Turns the app on.
#[server(prefix = "/web", endpoint = "turn-second-factor-on")]
pub async fn turn_second_factor_on(
    /// What the app shows.
    code: String,
) -> Result<(), AppError> {
    backend().turn_second_factor_on(code).await?;
    leave_for(&OwnPath::to(SECOND_FACTOR));
    Ok(())
}

/// Turns the app off.
#[server(prefix = "/web", endpoint = "turn-second-factor-off")]
pub async fn turn_second_factor_off() -> Result<(), AppError> {
    backend().turn_second_factor_off().await?;
    leave_for(&OwnPath::to("/dashboard/settings?done=factor-off"));
    Ok(())
}

/// Goes on to a new passkey.
#[server(prefix = "/web", endpoint = "begin-passkey")]
pub async fn begin_passkey() -> Result<(), AppError> {
    backend().begin_passkey().await?;
    leave_for(&OwnPath::to(PASSKEY));
    Ok(())
}

/// Adds it.
#[server(prefix = "/web", endpoint = "add-passkey")]
pub async fn add_passkey(
    /// What the person calls it.
    passkey_name: String,
    /// What it has answered.
    passkey: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::PasskeyName, passkey_name.clone())];
    let added = backend().add_passkey(passkey_name, passkey).await;
    let with_codes = added.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to(if with_codes {
        SECOND_FACTOR
    } else {
        "/dashboard/settings?done=passkey"
    }));
    Ok(())
}

/// Gives one up.
#[server(prefix = "/web", endpoint = "remove-passkey")]
pub async fn remove_passkey(
    /// Which one.
    subject: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Subject, subject.clone())];
    let removed = backend().remove_passkey(subject).await;
    removed.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/dashboard/settings?done=passkey-removed"));
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
