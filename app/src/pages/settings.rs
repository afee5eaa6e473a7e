//! `/dashboard/settings`: what people decide of themselves and of their account.

pub mod account;
pub mod api;
pub mod profile;
pub mod sessions;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    layout::{
        loaded::loaded,
        shell::{Shell, rail::Entry},
    },
    model::settings::Settings as Found,
    pages::settings::{
        account::AccountSections,
        profile::{PasswordSection, ProfileSection},
        sessions::SessionsSection,
    },
    ui::notice::DoneNotice,
};

/// The page.
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
        "Yours, and those of the account that you own."
    } else {
        "Yours alone."
    };
    let (now, sessions, owned) = (found.now, found.sessions, found.owned);
    view! {
        <div class="page-head">
            <div class="page-head__text">
                <h1>"Settings"</h1>
                <p class="page-head__lede">{lede}</p>
            </div>
        </div>
        <Done />
        <ProfileSection person=found.person />
        <PasswordSection changed_at=found.password_changed_at />
        <SessionsSection sessions now />
        {owned.map(|account| view! { <AccountSections account /> })}
    }
}

/// What was just done, of what this page does.
#[component]
fn Done() -> impl IntoView {
    let done = use_query_map().read_untracked().get("done");
    let words = match done.as_deref() {
        Some("name") => Some("Name saved."),
        Some("email") => {
            Some("A link is on its way to the new address. It counts once you have opened the link, logged in.")
        }
        Some("email-confirmed") => Some("Address changed. From now on you log in with it."),
        Some("password") => Some("Password changed. All other sessions are logged out."),
        Some("account") => Some("Account name saved."),
        Some("content") => Some("Saved."),
        Some("session") => Some("Session logged out."),
        Some("sessions") => Some("All other sessions are logged out."),
        Some("deletion") => Some("The account is deleted in seven days. We have sent you a mail about it."),
        Some("kept") => Some("The account stays."),
        _ => None,
    };
    words.map(|words| view! { <DoneNotice>{words}</DoneNotice> })
}
