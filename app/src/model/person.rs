//! Users.

use serde::{Deserialize, Serialize};

/// The logged-in user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// May be empty.
    pub name: String,
    pub email: String,
}

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

/// Proof of identity of a logged-in user.
pub enum Proof {
    Password(String),
    /// A code of the authenticator app, or a recovery code.
    Code(String),
    /// The response of a passkey, as JSON.
    Passkey(String),
}
