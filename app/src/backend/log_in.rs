//! The part of [`Backend`](super::Backend) for log-in, sign-up and password reset.

use async_trait::async_trait;
use platen_domain::{one_time_token::Purpose, plan::Plan, second_factor::Ways};

use crate::{
    error::AppError,
    model::{
        money::Money,
        person::{LogIn, LogInStep, SecondStepProof, SignUp},
    },
};

/// Log-in, sign-up and password reset. The methods are public, except [`Self::confirm_email`].
#[async_trait]
pub trait LogInBackend: Send + Sync {
    /// Logs the visitor in, or begins the second step if a second factor is required.
    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError>;

    /// Starts a second-factor challenge. Returns `None` if the visitor has not passed the first step, or it has
    /// expired.
    async fn second_step(&self) -> Result<Option<Ways>, AppError>;

    /// Logs the visitor in after the second step. With `remember`, this browser skips it for a while.
    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError>;

    /// Logs the visitor out. Does nothing if they are not logged in.
    async fn log_out(&self) -> Result<(), AppError>;

    /// Mails a link that completes a sign-up.
    async fn sign_up(&self, form: SignUp) -> Result<(), AppError>;

    /// Mails the sign-up link again, if a sign-up with this address is pending.
    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError>;

    /// Completes a sign-up with the token of its link and the chosen password, and logs the user in.
    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError>;

    /// Mails a password reset link to the user with this address.
    async fn request_password_reset(&self, email: String) -> Result<(), AppError>;

    /// Replaces a password, by the token of a reset link.
    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError>;

    /// Confirms the logged-in user's new email address, by the token of a mailed link.
    async fn confirm_email(&self, token: String) -> Result<(), AppError>;

    /// Returns the address to which the visitor's last mail of a sign-up or password reset went, for an hour.
    async fn mail_sent_to(&self) -> Result<Option<String>, AppError>;

    /// Returns the address to which the link with this token was mailed, while it is valid.
    async fn address_of_link(&self, purpose: Purpose, token: String) -> Result<Option<String>, AppError>;

    /// Lists the plans on offer with their prices per month, the smallest first.
    async fn plans(&self) -> Result<Vec<(Plan, Money)>, AppError>;
}
