//! What pages ask about the second factor of the person who is logged in, and about what a session alone is not enough for.

use async_trait::async_trait;

use crate::{error::AppError, model::second_factor::SetUp};

/// What somebody shows who is logged in already.
pub enum Proof {
    /// Their password.
    Password(String),
    /// A code of their second factor.
    Code(String),
}

/// Their second factor, their browsers, and whether it is they.
#[async_trait]
pub trait SecondFactorBackend: Send + Sync {
    /// Whether they have a second factor.
    async fn has_second_factor(&self) -> Result<bool, AppError>;

    /// How far they have set it up, with the recovery codes that were just made.
    async fn second_factor(&self) -> Result<SetUp, AppError>;

    /// Makes a secret for their app.
    async fn begin_second_factor(&self) -> Result<(), AppError>;

    /// Turns it on by the app's first code, and makes recovery codes.
    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError>;

    /// Gives it up.
    async fn turn_second_factor_off(&self) -> Result<(), AppError>;

    /// Makes recovery codes in place of those that are left.
    async fn renew_recovery_codes(&self) -> Result<(), AppError>;

    /// Has one of their browsers asked for the second factor again.
    async fn forget_device(&self, id: String) -> Result<(), AppError>;

    /// Takes it that it is they for ten minutes: what needs more than a session is refused before.
    async fn confirm(&self, proof: Proof) -> Result<(), AppError>;
}
