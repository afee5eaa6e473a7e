//! Interface between pages and services. The server implements [`Backend`] and provides it in the context of every
//! request, for pages and server functions alike.

pub mod account;
pub mod api_keys;
pub mod assets;
pub mod batches;
pub mod connections;
pub mod log_in;
pub mod operators;
pub mod payment;
pub mod playground;
pub mod renders;
pub mod second_factor;
pub mod settings;
pub mod team;
pub mod templates;
pub mod webhooks;

use std::{pin::Pin, sync::Arc};

use futures::Stream;
use leptos::prelude::use_context;

use crate::{
    backend::{
        account::AccountBackend, api_keys::ApiKeyBackend, assets::AssetBackend, batches::BatchBackend,
        connections::ConnectionBackend, log_in::LogInBackend, operators::OperatorBackend, payment::PaymentBackend,
        playground::PlaygroundBackend, renders::RenderBackend, second_factor::SecondFactorBackend,
        settings::SettingsBackend, team::TeamBackend, templates::TemplateBackend, webhooks::WebhookBackend,
    },
    error::AppError,
    model::{live_preview::PreviewEvent, own_path::OwnPath},
};

/// Events of a preview, in order.
pub type PreviewEvents = Pin<Box<dyn Stream<Item = Result<PreviewEvent, AppError>> + Send>>;

/// The services, on behalf of one request. Callers need not check who is logged in: each method authenticates the
/// session, checks the permission and acts for the session's account, except for those of log-in, sign-up, password reset
/// ([`LogInBackend`]) and invitations ([`TeamBackend::invitation`], [`TeamBackend::join_as_new`]), which are public.
pub trait Backend:
    AccountBackend
    + ApiKeyBackend
    + AssetBackend
    + BatchBackend
    + ConnectionBackend
    + LogInBackend
    + OperatorBackend
    + PaymentBackend
    + PlaygroundBackend
    + RenderBackend
    + SecondFactorBackend
    + SettingsBackend
    + TeamBackend
    + TemplateBackend
    + WebhookBackend
{
    /// Returns the public base URL of the service, without a trailing slash.
    fn base_url(&self) -> String;

    /// Returns whether the visitor is logged in.
    fn is_logged_in(&self) -> bool;

    /// Returns the CSRF token for forms of the visitor's pages, or `None` without a session.
    fn csrf_token(&self) -> Option<String>;
}

/// Returns the services for the current request. In async functions, call it before the first `await`.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server provides a backend for every request")
}

/// Completes a server function: responds to its form with a redirect to `path`.
pub fn leave_for(path: impl Into<OwnPath>) -> Result<(), AppError> {
    redirect(path);
    Ok(())
}

/// As [`leave_for`], for a page of Stripe, whose address Stripe has returned.
pub fn leave_for_stripe(page: &str) -> Result<(), AppError> {
    see_other(page);
    Ok(())
}

/// Responds with a redirect to `path`.
pub fn redirect(path: impl Into<OwnPath>) {
    see_other(&path.into().to_string());
}

fn see_other(address: &str) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(location) = http::HeaderValue::from_str(address)
    {
        response.set_status(http::StatusCode::SEE_OTHER);
        response.insert_header(http::header::LOCATION, location);
    }
}
