//! `/dashboard/settings/passkey`: adds a passkey. Like the page of the second factor, it works without an account.

use leptos::prelude::*;

use crate::{
    layout::{card::CardPage, page::loaded},
    model::{rejection::Field, second_factor::NewPasskey as Found},
    outcome::{ButtonForm, FormField, Outcome, OutcomeErrors, PageForm},
    pages::second_factor::api::{AddPasskey, BeginPasskey},
    ui::{
        button::{Rank, Submit},
        passkey_button::{Ceremony, NEEDS_HOST_NAME, PasskeyButton},
    },
};

/// The page that adds a passkey.
#[component]
pub fn NewPasskey() -> impl IntoView {
    view! {
        <CardPage title="New passkey">
            {loaded(
                |backend| async move { backend.ask_for_new_passkey().await },
                |found| match found {
                    Found::Asked(options) => view! { <Add options /> }.into_any(),
                    Found::Unconfirmed => view! { <Confirm /> }.into_any(),
                    Found::NotHere => view! { <NotHere /> }.into_any(),
                },
            )}
            <div class="auth__other">
                <a href="/dashboard/settings#second-factor">"Back to settings"</a>
            </div>
        </CardPage>
    }
}

#[component]
fn Add(options: String) -> impl IntoView {
    let outcome = Outcome::of::<AddPasskey>();
    view! {
        <p class="auth__lede">
            "A passkey is stored in your phone, computer, password manager or security key. It confirms your identity by fingerprint, face or PIN, and works on this site only."
        </p>
        <PageForm outcome>
            <div class="auth__form">
                <FormField
                    outcome=outcome
                    field=Field::PasskeyName
                    label="Name"
                    hint="For example, the name of the device."
                />
                <PasskeyButton ceremony=Ceremony::Make options rank=Rank::Primary label="Create passkey" />
            </div>
        </PageForm>
    }
}

#[component]
fn NotHere() -> impl IntoView {
    view! { <p class="auth__lede">{NEEDS_HOST_NAME}</p> }
}

/// Asks to confirm the identity again: the last confirmation or the registration has expired.
#[component]
fn Confirm() -> impl IntoView {
    let (begin, add) = (Outcome::of::<BeginPasskey>(), Outcome::of::<AddPasskey>());
    view! {
        <p class="auth__lede">"Confirm your identity before you add a passkey."</p>
        <div class="auth__form">
            <OutcomeErrors outcome=begin />
            <OutcomeErrors outcome=add />
            <ButtonForm outcome=begin>
                <Submit>"Continue"</Submit>
            </ButtonForm>
        </div>
    }
}
