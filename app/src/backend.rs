//! Interface between pages and services. The server implements [`Backend`] and provides it in the context of every
//! request, for pages and server functions alike.

pub mod account;
pub mod admin;
pub mod api_keys;
pub mod connections;
pub mod payment;
pub mod people;
pub mod playground;
pub mod renders;
pub mod second_factor;
pub mod settings;
pub mod team;
pub mod templates;

use std::sync::Arc;

use leptos::prelude::use_context;

use crate::{
    backend::{
        account::AccountBackend,
        admin::{
            AdminBackend, accounts::AdminAccountsBackend, announcements::AnnouncementBackend, audit_log::AuditBackend,
            failed_jobs::FailedWorkBackend, health::HealthBackend,
        },
        api_keys::ApiKeyBackend,
        connections::ConnectionBackend,
        payment::PaymentBackend,
        people::PeopleBackend,
        playground::PlaygroundBackend,
        renders::RenderBackend,
        second_factor::SecondFactorBackend,
        settings::SettingsBackend,
        team::TeamBackend,
        templates::TemplatesBackend,
    },
    error::AppError,
    model::own_path::OwnPath,
};

/// The services, on behalf of one request. Callers need not check who is logged in: each method authenticates the
/// session and acts for its account.
pub trait Backend:
    PeopleBackend
    + AccountBackend
    + AdminBackend
    + AdminAccountsBackend
    + AnnouncementBackend
    + ApiKeyBackend
    + AuditBackend
    + ConnectionBackend
    + FailedWorkBackend
    + HealthBackend
    + PaymentBackend
    + PlaygroundBackend
    + RenderBackend
    + SecondFactorBackend
    + SettingsBackend
    + TeamBackend
    + TemplatesBackend
{
    /// Returns the public base URL of the service, without a trailing slash.
    fn base_url(&self) -> String;

    /// Returns the CSRF token for forms of the visitor's pages, or `None` without a session.
    fn csrf_token(&self) -> Option<String>;
}

/// Returns the services for the current request. In async functions, call it before the first `await`.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server provides a backend for every request")
}

/// Completes a server function: responds to its form with a redirect to `path`.
pub fn leave_for(path: &OwnPath) -> Result<(), AppError> {
    redirect(path);
    Ok(())
}

/// As [`leave_for`], for a page of Stripe, whose address Stripe has returned.
pub fn leave_for_stripe(page: &str) -> Result<(), AppError> {
    see_other(page);
    Ok(())
}

/// Responds with a redirect to `path`.
pub fn redirect(path: &OwnPath) {
    see_other(&path.to_string());
}

fn see_other(address: &str) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(location) = http::HeaderValue::from_str(address)
    {
        response.set_status(http::StatusCode::SEE_OTHER);
        response.insert_header(http::header::LOCATION, location);
    }
}
