//! Server functions of the second factor. All act for the logged-in user.

use leptos::prelude::*;
use platen_domain::ids::{DeviceId, PasskeyId};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::{PASSKEY, SECOND_FACTOR},
};

/// Creates a secret for an authenticator app.
#[server(prefix = "/web", endpoint = "begin-second-factor")]
pub async fn begin_second_factor() -> Result<(), AppError> {
    backend().begin_second_factor().await?;
    leave_for(SECOND_FACTOR)
}

/// Enables the authenticator app with its first code.
#[server(prefix = "/web", endpoint = "turn-second-factor-on")]
pub async fn turn_second_factor_on(
    /// Code that the app shows.
    code: String,
) -> Result<(), AppError> {
    backend().turn_second_factor_on(code).await?;
    leave_for(SECOND_FACTOR)
}

/// Removes the authenticator app.
#[server(prefix = "/web", endpoint = "turn-second-factor-off")]
pub async fn turn_second_factor_off() -> Result<(), AppError> {
    backend().turn_second_factor_off().await?;
    leave_for("/dashboard/settings?done=factor-off")
}

/// Starts adding a passkey, and redirects to its page.
#[server(prefix = "/web", endpoint = "begin-passkey")]
pub async fn begin_passkey() -> Result<(), AppError> {
    backend().begin_passkey().await?;
    leave_for(PASSKEY)
}

/// Adds the registered passkey. If recovery codes were created with it, redirects to the page that shows them.
#[server(prefix = "/web", endpoint = "add-passkey")]
pub async fn add_passkey(
    /// Name of the passkey.
    passkey_name: String,
    /// Response of the passkey, as JSON.
    passkey: String,
) -> Result<(), AppError> {
    let with_codes = backend().add_passkey(passkey_name, passkey).await?;
    leave_for(if with_codes {
        SECOND_FACTOR
    } else {
        "/dashboard/settings?done=passkey"
    })
}

/// Removes a passkey.
#[server(prefix = "/web", endpoint = "remove-passkey")]
pub async fn remove_passkey(
    /// Id of the passkey.
    subject: PasskeyId,
) -> Result<(), AppError> {
    backend().remove_passkey(subject).await?;
    leave_for("/dashboard/settings?done=passkey-removed")
}

/// Replaces the remaining recovery codes.
#[server(prefix = "/web", endpoint = "renew-recovery-codes")]
pub async fn renew_recovery_codes() -> Result<(), AppError> {
    backend().renew_recovery_codes().await?;
    leave_for(SECOND_FACTOR)
}

/// Forgets a remembered browser, which must then show the second factor again.
#[server(prefix = "/web", endpoint = "forget-device")]
pub async fn forget_device(
    /// Id of the remembered browser.
    subject: DeviceId,
) -> Result<(), AppError> {
    backend().forget_device(subject).await?;
    leave_for("/dashboard/settings?done=device")
}
