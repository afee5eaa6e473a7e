//! Server functions of sign-up, log-in, and the links of mails.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        own_path::OwnPath,
        person::{self, LogInStep, Proof, SecondStepProof},
    },
};

/// Mails a link that completes the sign-up. Public.
#[server(prefix = "/web", endpoint = "sign-up")]
pub async fn sign_up(
    /// Name of the user.
    name: String,
    /// Email address of the user.
    email: String,
    /// Name of the account.
    account_name: String,
    /// Password of the user.
    password: String,
) -> Result<(), AppError> {
    let form = person::SignUp {
        name,
        email,
        account_name,
        password,
    };
    backend().sign_up(form).await?;
    leave_for("/check-mail")
}

/// Mails the sign-up link again. Public: the response doesn't reveal whether a sign-up is pending.
#[server(prefix = "/web", endpoint = "send-sign-up-again")]
pub async fn send_sign_up_again(
    /// Address that was used to sign up.
    email: String,
) -> Result<(), AppError> {
    backend().send_sign_up_again(email).await?;
    leave_for("/check-mail?sent=again")
}

/// Completes a sign-up. Public: token and password are the authorization.
#[server(prefix = "/web", endpoint = "verify-sign-up")]
pub async fn verify_sign_up(
    /// Token of the link.
    token: String,
    /// Password that was chosen at sign-up.
    password: String,
) -> Result<(), AppError> {
    backend().verify_sign_up(token, password).await?;
    leave_for(OwnPath::after_log_in(None))
}

/// Logs the visitor in. Redirects to `next` if it is a path of this service, or to the second step, which does so.
/// Public.
#[server(prefix = "/web", endpoint = "log-in")]
pub async fn log_in(
    /// Email address of the user.
    email: String,
    /// Password of the user.
    password: String,
    /// Present if the session outlives the browser.
    stay: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let stays = stay.is_some();
    let form = person::LogIn { email, password, stays };
    let step = backend().log_in(form).await?;
    let next = OwnPath::after_log_in(next.as_deref());
    leave_for(match step {
        LogInStep::LoggedIn => next,
        LogInStep::SecondFactor => next.after("/log-in/second-factor"),
    })
}

/// Completes the log-in of a visitor who has entered their password. Redirects to `next` if it is a path of this
/// service.
#[server(prefix = "/web", endpoint = "show-second-factor")]
pub async fn show_second_factor(
    /// Code of the authenticator app.
    code: Option<String>,
    /// Recovery code, instead of a code of the app.
    recovery_code: Option<String>,
    /// Response of a passkey, as JSON. Empty if none was used.
    passkey: Option<String>,
    /// Present if this browser skips the second step for a while.
    remember: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let passkey = passkey.filter(|answer| !answer.is_empty());
    let proof = match (passkey, code, recovery_code) {
        // The form also has a field for the code, which stays empty.
        (Some(answer), _, None) => SecondStepProof::Passkey(answer),
        (None, Some(code), None) => SecondStepProof::App(code),
        (None, None, Some(code)) => SecondStepProof::Recovery(code),
        _ => return Err(AppError::Malformed),
    };
    backend().log_in_by_second_factor(proof, remember.is_some()).await?;
    leave_for(OwnPath::after_log_in(next.as_deref()))
}

/// Mails a password reset link. Public: the response doesn't reveal whether the address has an account.
#[server(prefix = "/web", endpoint = "request-password-reset")]
pub async fn request_password_reset(
    /// Email address of the user.
    email: String,
) -> Result<(), AppError> {
    backend().request_password_reset(email).await?;
    leave_for("/check-mail?for=password")
}

/// Replaces a password. Public: the token is the authorization.
#[server(prefix = "/web", endpoint = "reset-password")]
pub async fn reset_password(
    /// Token of the link.
    token: String,
    /// The new password.
    password: String,
) -> Result<(), AppError> {
    backend().reset_password(token, password).await?;
    leave_for("/log-in?done=password")
}

/// Confirms the logged-in user's identity by one proof. Redirects to `next` if it is a path of this service.
#[server(prefix = "/web", endpoint = "confirm")]
pub async fn confirm(
    /// Password of the user.
    password: Option<String>,
    /// Code of the second factor.
    code: Option<String>,
    /// Response of a passkey, as JSON.
    passkey: Option<String>,
    /// Path to redirect to.
    next: Option<String>,
) -> Result<(), AppError> {
    let proof = match (password, code, passkey) {
        (Some(password), None, None) => Proof::Password(password),
        (None, Some(code), None) => Proof::Code(code),
        (None, None, Some(answer)) => Proof::Passkey(answer),
        _ => return Err(AppError::Malformed),
    };
    backend().confirm(proof).await?;
    leave_for(OwnPath::after_log_in(next.as_deref()))
}

/// Confirms a new address, for the user who requested the link.
#[server(prefix = "/web", endpoint = "confirm-email")]
pub async fn confirm_email(
    /// Token of the link.
    token: String,
) -> Result<(), AppError> {
    backend().confirm_email(token).await?;
    leave_for("/dashboard/settings?done=email-confirmed")
}

/// Accepts an invitation for the logged-in user.
#[server(prefix = "/web", endpoint = "accept-invitation")]
pub async fn accept_invitation(
    /// Token of the link.
    token: String,
) -> Result<(), AppError> {
    backend().accept_invitation(token).await?;
    leave_for("/dashboard/team?done=joined")
}

/// Accepts an invitation as a new user. Public: the token is the authorization.
#[server(prefix = "/web", endpoint = "join-as-new")]
pub async fn join_as_new(
    /// Token of the link.
    token: String,
    /// Name of the user.
    name: String,
    /// Password of the user.
    password: String,
) -> Result<(), AppError> {
    backend().join_as_new(token, name, password).await?;
    leave_for("/dashboard/team?done=joined")
}
