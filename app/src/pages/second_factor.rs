//! `/dashboard/settings/second-factor`: sets up the user's second factor, and shows new recovery codes. It works
//! without an account, because users whose account requires a second factor are sent here first (`?required`). Passkeys
//! are added on a page of their own.

pub mod api;
pub mod codes;
pub mod passkey;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::second_factor::picture::Picture;

use crate::{
    layout::{card::CardPage, page::loaded, shell::slug::api::LogOut},
    model::{own_path::PASSKEY, second_factor::SetUp},
    outcome::{ButtonForm, OneTimeCodeField, Outcome, OutcomeErrors, PageForm},
    pages::second_factor::{
        api::{BeginPasskey, BeginSecondFactor, TurnSecondFactorOn},
        codes::NewCodes,
    },
    ui::{
        button::{ButtonLink, Rank, Submit},
        notice::WarningNotice,
        passkey_button::NEEDS_HOST_NAME,
    },
};

/// The page of the second factor.
#[component]
pub fn SecondFactor() -> impl IntoView {
    let required = use_query_map().read_untracked().get("required").is_some();
    view! {
        <CardPage title="Second factor">
            {loaded(
                |backend| async move { backend.second_factor().await },
                move |found| view! { <Content found required /> },
            )}
        </CardPage>
    }
}

#[component]
fn Content(found: SetUp, required: bool) -> impl IntoView {
    if !found.new_codes.is_empty() {
        return view! { <NewCodes codes=found.new_codes /> }.into_any();
    }
    let is_on = found.state.is_on();
    match found.secret {
        Some((secret, picture)) => view! { <TurnOn secret picture passkeys=found.state.more_passkeys /> }.into_any(),
        None if is_on => view! {
            <p class="auth__lede">"Your second factor is on."</p>
            <div class="auth__form">
                <ButtonLink href="/dashboard/settings#second-factor">"Go to settings"</ButtonLink>
            </div>
        }
        .into_any(),
        None => view! { <Begin required passkeys=found.state.more_passkeys passkeys_work=found.state.passkeys_work /> }
            .into_any(),
    }
}

#[component]
fn Begin(required: bool, passkeys: bool, passkeys_work: bool) -> impl IntoView {
    let (outcome, passkey) = (Outcome::of::<BeginSecondFactor>(), Outcome::of::<BeginPasskey>());
    view! {
        <p class="auth__lede">
            "Adds a second step at log-in, so a stolen password isn’t enough: a code from an authenticator app"
            {passkeys.then_some(", or a passkey")} "."
        </p>
        <div class="auth__form">
            {required
                .then(|| {
                    view! {
                        <WarningNotice>
                            "This page requires a second factor. Set one up to continue."
                        </WarningNotice>
                    }
                })} <OutcomeErrors outcome /> <OutcomeErrors outcome=passkey /> <ButtonForm outcome>
                <Submit>"Set up authenticator app"</Submit>
            </ButtonForm>
            {passkeys
                .then(|| {
                    view! {
                        <ButtonForm outcome=passkey>
                            <Submit rank=Rank::Plain>"Add a passkey"</Submit>
                        </ButtonForm>
                    }
                })} {(!passkeys_work).then(|| view! { <p class="small quiet">{NEEDS_HOST_NAME}</p> })}
            <WayOut required />
        </div>
    }
}

/// Link back to the settings. With `required` there is no way back, and a log-out button replaces it.
#[component]
fn WayOut(required: bool) -> impl IntoView {
    if required {
        let log_out = Outcome::of::<LogOut>();
        view! {
            <ButtonForm outcome=log_out>
                <Submit rank=Rank::Plain>"Log out"</Submit>
            </ButtonForm>
        }
        .into_any()
    } else {
        view! { <a href="/dashboard/settings#second-factor">"Back to settings"</a> }.into_any()
    }
}

#[component]
fn TurnOn(secret: String, picture: Picture, passkeys: bool) -> impl IntoView {
    let outcome = Outcome::of::<TurnSecondFactorOn>();
    let (side, view_box) = (picture.side, format!("0 0 {0} {0}", picture.side));
    view! {
        <p class="auth__lede">"Scan the code with an authenticator app, then enter the six-digit code from the app."</p>
        <div class="auth__form">
            <div class="totp totp--alone">
                <svg class="totp__code" viewBox=view_box role="img" aria-label="Code for your authenticator app">
                    <rect class="totp__paper" width=side height=side />
                    <path class="totp__dots" d=picture.path />
                </svg>
                <p class="small">
                    "Can’t scan the code? Enter this key in the app:" <br /> <code>{secret}</code>
                </p>
            </div>
            <PageForm outcome class="stack">
                <OneTimeCodeField outcome />
                <Submit>"Turn on"</Submit>
            </PageForm>
            {passkeys.then(|| view! { <a href=PASSKEY>"Add a passkey instead"</a> })}
            <a href="/dashboard/settings#second-factor">"Not now"</a>
        </div>
    }
}
