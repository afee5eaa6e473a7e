//! Log-in, sign-up and password reset.

use async_trait::async_trait;
use platen_domain::{plan::Plan, second_factor::Ways};

use crate::error::AppError;

/// The log-in form.
pub struct LogIn {
    pub email: String,
    pub password: String,
    /// Whether the session outlives the browser.
    pub stays: bool,
}

/// The result of a log-in.
pub enum LogInStep {
    /// The visitor is logged in.
    LoggedIn,
    /// The second factor is still required.
    SecondFactor,
}

/// The sign-up form.
pub struct SignUp {
    pub name: String,
    pub email: String,
    pub account_name: String,
    pub password: String,
}

/// Proof of the second factor.
pub enum SecondStepProof {
    /// A code of the authenticator app.
    App(String),
    /// A recovery code.
    Recovery(String),
    /// The response of a passkey, as JSON.
    Passkey(String),
}

/// Log-in, log-out and what precedes them.
#[async_trait]
pub trait PeopleBackend: Send + Sync {
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

    /// Lists the plans on offer, the smallest first.
    async fn plans(&self) -> Result<Vec<Plan>, AppError>;
}
