//! What pages ask about the second factor of the person who is logged in, and about what a session alone is not enough for.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::second_factor::{NewPasskey, SetUp, Ways},
};

/// What somebody shows who is logged in already.
pub enum Proof {
    /// Their password.
    Password(String),
    /// A code of their app, or a recovery code.
    Code(String),
    /// What a passkey has answered, as JSON.
    Passkey(String),
}

/// Their second factor, their browsers, and whether it is they.
#[async_trait]
pub trait SecondFactorBackend: Send + Sync {
    /// Asks for their second factor, in every way in which they have one.
    async fn ask_for_second_factor(&self) -> Result<Ways, AppError>;

    /// How far they have set it up, with the recovery codes that were just made.
    async fn second_factor(&self) -> Result<SetUp, AppError>;

    /// Makes a secret for their app.
    async fn begin_second_factor(&self) -> Result<(), AppError>;

    /// Turns their app on by its first code.
    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError>;

    /// Gives their app up.
    async fn turn_second_factor_off(&self) -> Result<(), AppError>;

    /// Lets them go on to a new passkey, if it is they.
    async fn begin_passkey(&self) -> Result<(), AppError>;

    /// Asks for a new passkey.
    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError>;

    /// Adds the passkey that has answered. Whether recovery codes were made with it, which are to be shown.
    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError>;

    /// Gives one up.
    async fn remove_passkey(&self, id: String) -> Result<(), AppError>;

    /// Makes recovery codes in place of those that are left.
    async fn renew_recovery_codes(&self) -> Result<(), AppError>;

    /// Has one of their browsers asked for the second factor again.
    async fn forget_device(&self, id: String) -> Result<(), AppError>;

    /// Takes it that it is they for ten minutes: what needs more than a session is refused before.
    async fn confirm(&self, proof: Proof) -> Result<(), AppError>;
}
