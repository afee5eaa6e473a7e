//! `/dashboard/settings`: settings of the user and of the account.

pub mod account;
pub mod api;
pub mod export;
pub mod profile;
pub mod second_factor;
pub mod sessions;

use leptos::{context::Provider, prelude::*};

use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::settings::Settings as Found,
    outcome::Done,
    pages::settings::{
        account::AccountSections,
        profile::{PasswordSection, ProfileSection},
        second_factor::SecondFactorSection,
        sessions::SessionsSection,
    },
    read_only::ReadOnly,
};

/// The settings page.
#[component]
pub fn Settings() -> impl IntoView {
    view! {
        <Shell title="Settings" current=Entry::Settings>
            {loaded(|backend| async move { backend.settings().await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

#[component]
fn Content(found: Found) -> impl IntoView {
    let lede = if found.owned.is_some() {
        "Your profile, and the account that you own."
    } else {
        "Your profile and log-in."
    };
    let (now, sessions, owned) = (found.now, found.sessions, found.owned);
    view! {
        <PageHead title="Settings" lede />
        <Done about=done />
        <Provider value=while_suspended()>
            <ProfileSection person=found.person />
            <PasswordSection changed_at=found.password_changed_at />
            <SecondFactorSection state=found.second_factor devices=found.devices now />
            <SessionsSection sessions now />
        </Provider>
        {owned.map(|account| view! { <AccountSections account /> })}
    }
}

/// Returns why settings are read-only that don't depend on the account's suspension: the user's own, and exports.
fn while_suspended() -> Option<ReadOnly> {
    use_context::<Option<ReadOnly>>()
        .flatten()
        .filter(|reason| *reason != ReadOnly::Suspended)
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "name" => "Name saved.",
        "email" => "Link sent to the new address. Open it while logged in to confirm the change.",
        "email-confirmed" => "Email address changed. Use it to log in.",
        "password" => "Password changed. All other sessions are logged out.",
        "factor-off" => "Authenticator app turned off. Its codes no longer work.",
        "passkey" => "Passkey added. You can now log in with it.",
        "passkey-removed" => "Passkey removed.",
        "channels" => "Channels saved.",
        "factor-policy" => "Requirement saved. Members without a second factor see a notice on every page.",
        "device" => "This device asks for the second factor again.",
        "account" => "Account name saved.",
        "content" => "Setting saved.",
        "links" => "Setting saved. It applies to documents that are rendered from now on.",
        "export" => "Export started. We’ll email you when it is ready.",
        "session" => "Session logged out.",
        "sessions" => "All other sessions are logged out.",
        "deletion" => "The account will be deleted in seven days. We have sent you a confirmation by email.",
        "kept" => "Deletion cancelled.",
        _ => return None,
    })
}
