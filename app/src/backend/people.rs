//! What pages ask about those who visit them.

use async_trait::async_trait;

use crate::{error::AppError, model::plan::Plan};

/// What somebody types who wants to log in.
pub struct LogIn {
    /// Log-in name.
    pub email: String,
    /// Theirs, it is to be hoped.
    pub password: String,
    /// Whether the session is to outlast the browser.
    pub stays: bool,
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

/// Logging in and out, and what comes before.
#[async_trait]
pub trait PeopleBackend: Send + Sync {
    /// Logs the visitor in.
    async fn log_in(&self, form: LogIn) -> Result<(), AppError>;

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
