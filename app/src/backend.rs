//! All that pages may ask of the server. The server implements [`Backend`] and hands it in through the context of every
//! request, for pages and server functions alike.

pub mod account;
pub mod admin;
pub mod api_keys;
pub mod destinations;
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
            failed_work::FailedWorkBackend, health::HealthBackend,
        },
        api_keys::ApiKeyBackend,
        destinations::DestinationBackend,
        payment::PaymentBackend,
        people::PeopleBackend,
        playground::PlaygroundBackend,
        renders::RenderBackend,
        second_factor::SecondFactorBackend,
        settings::SettingsBackend,
        team::TeamBackend,
        templates::TemplatesBackend,
    },
    model::own_path::OwnPath,
};

/// One request's way to the services. Whoever calls a function of it need not have asked who is logged in: each finds that
/// out, and acts for their account.
pub trait Backend:
    PeopleBackend
    + AccountBackend
    + AdminBackend
    + AdminAccountsBackend
    + AnnouncementBackend
    + ApiKeyBackend
    + AuditBackend
    + DestinationBackend
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
    /// Where clients reach the service, without a slash at the end.
    fn base_url(&self) -> String;

    /// What forms of this visitor's pages hold; `None`: nobody is logged in.
    fn csrf_token(&self) -> Option<String>;
}

/// The services, on behalf of the request that is being answered. In a function that waits, it has to be called first.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server gives every request its backend")
}

/// Answers a form with another page.
pub fn leave_for(path: &OwnPath) {
    see_other(&path.to_string());
}

/// Answers a form with a page of Stripe's, whose address Stripe has given.
pub fn leave_for_stripe(page: &str) {
    see_other(page);
}

fn see_other(address: &str) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(location) = http::HeaderValue::from_str(address)
    {
        response.set_status(http::StatusCode::SEE_OTHER);
        response.insert_header(http::header::LOCATION, location);
    }
}
