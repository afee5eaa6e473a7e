//! What pages ask about those who visit them.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::{plan::Plan, second_factor::Ways},
};

/// What somebody types who wants to log in.
pub struct LogIn {
    /// Log-in name.
    pub email: String,
    /// Theirs, it is to be hoped.
    pub password: String,
    /// Whether the session is to outlast the browser.
    pub stays: bool,
}

/// How far a log-in has come.
pub enum LogInStep {
    /// To its end.
    LoggedIn,
    /// The second factor is still to be shown.
    SecondFactor,
}

/// What somebody types who wants an account.
pub struct SignUp {
    /// What they call themselves.
    pub name: String,
    /// Log-in name to be.
    pub email: String,
    /// What they call the account.
    pub account_name: String,
    /// What they choose.
    pub password: String,
}

/// What somebody shows in the second step.
pub enum SecondStepProof {
    /// What their app shows.
    App(String),
    /// A code that stands in for it.
    Recovery(String),
    /// What a passkey has answered, as JSON.
    Passkey(String),
}

/// Logging in and out, and what comes before.
#[async_trait]
pub trait PeopleBackend: Send + Sync {
    /// Logs the visitor in, or lets them wait for the second step.
    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError>;

    /// Asks for the second factor of a visitor who has come to the second step; `None`: they have not, or are too late.
    async fn second_step(&self) -> Result<Option<Ways>, AppError>;

    /// Logs the visitor in who has come to the second step. `remember`: this browser is not asked for it for a while.
    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError>;

    /// Logs the visitor out, if they are logged in.
    async fn log_out(&self) -> Result<(), AppError>;

    /// Mails a link that ends a sign-up.
    async fn sign_up(&self, form: SignUp) -> Result<(), AppError>;

    /// Mails it again, if somebody has signed up with this address.
    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError>;

    /// Ends a sign-up by its link and the password that was chosen, and logs the person in.
    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError>;

    /// Mails a link that lets whoever has this address choose another password.
    async fn request_password_reset(&self, email: String) -> Result<(), AppError>;

    /// Replaces a password by such a link.
    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError>;

    /// Gives the person who is logged in the address that a link was sent to.
    async fn confirm_email(&self, token: String) -> Result<(), AppError>;

    /// What is on offer, the smallest plan first.
    async fn plans(&self) -> Result<Vec<Plan>, AppError>;
}
