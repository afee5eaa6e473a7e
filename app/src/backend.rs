//! All that pages may ask of the server. The server implements [`Backend`] and hands it in through the context of every
//! request, for pages and server functions alike.

use std::sync::Arc;

use async_trait::async_trait;
use leptos::prelude::use_context;

use crate::{
    error::AppError,
    model::{own_path::OwnPath, person::Person, plan::Plan},
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

/// One request's way to the services.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Where clients reach the service, without a slash at the end.
    fn base_url(&self) -> String;

    /// What forms of this visitor's pages hold; `None`: nobody is logged in.
    fn csrf_token(&self) -> Option<String>;

    /// Who is logged in; [`AppError::LogInFirst`] if nobody is.
    async fn person(&self) -> Result<Person, AppError>;

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

/// The services, on behalf of the request that is being answered.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server gives every request its backend")
}

/// Answers a form with another page: a form without script is sent there, the app in the browser goes by itself.
pub fn leave_for(path: &OwnPath) -> String {
    let path = path.to_string();
    let accepted = use_context::<http::request::Parts>();
    let accepted = accepted.and_then(|request| {
        request
            .headers
            .get(http::header::ACCEPT)?
            .to_str()
            .ok()
            .map(str::to_owned)
    });
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && accepted.is_some_and(|accepted| accepted.contains("text/html"))
        && let Ok(location) = http::HeaderValue::from_str(&path)
    {
        response.set_status(http::StatusCode::SEE_OTHER);
        response.insert_header(http::header::LOCATION, location);
    }
    path
}
