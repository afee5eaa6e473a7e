//! The part of [`Backend`](super::Backend) for second factors.

use async_trait::async_trait;
use platen_domain::{
    ids::{DeviceId, PasskeyId},
    second_factor::Ways,
};

use crate::{
    error::AppError,
    model::{
        person::Proof,
        second_factor::{NewPasskey, SetUp},
    },
};

/// Second factor, remembered browsers, and confirmation of the user's identity. Each method authorizes itself, as those of
/// [`Backend`](super::Backend).
#[async_trait]
pub trait SecondFactorBackend: Send + Sync {
    /// Starts a challenge for each second factor that the user has set up.
    async fn ask_for_second_factor(&self) -> Result<Ways, AppError>;

    /// Returns the state of the setup, with recovery codes that were just created.
    async fn second_factor(&self) -> Result<SetUp, AppError>;

    /// Creates a secret for an authenticator app.
    async fn begin_second_factor(&self) -> Result<(), AppError>;

    /// Enables the authenticator app with its first code.
    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError>;

    /// Removes the authenticator app.
    async fn turn_second_factor_off(&self) -> Result<(), AppError>;

    /// Starts adding a passkey, if the user has confirmed their identity.
    async fn begin_passkey(&self) -> Result<(), AppError>;

    /// Starts the registration of a passkey.
    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError>;

    /// Adds the registered passkey. Returns whether recovery codes were created with it, which must be shown.
    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError>;

    /// Removes a passkey.
    async fn remove_passkey(&self, id: PasskeyId) -> Result<(), AppError>;

    /// Replaces the remaining recovery codes.
    async fn renew_recovery_codes(&self) -> Result<(), AppError>;

    /// Forgets a browser, which must show the second factor again.
    async fn forget_device(&self, id: DeviceId) -> Result<(), AppError>;

    /// Confirms the user's identity for ten minutes. Sensitive actions are refused without it.
    async fn confirm(&self, proof: Proof) -> Result<(), AppError>;
}
