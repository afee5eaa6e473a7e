//! `/settings/confirm-email`: target of the link in mails that confirm a new address.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    layout::card::Card,
    outcome::{Outcome, form::PageForm, token_field::TokenField},
    pages::confirm_email::api::ConfirmEmail as ConfirmEmailFunction,
    ui::button::Submit,
};

/// The page. It has a button, because mail scanners follow links too.
#[component]
pub fn ConfirmEmail() -> impl IntoView {
    let outcome = Outcome::of::<ConfirmEmailFunction>();
    view! {
        <Title text="Confirm your new address" />
        <Card>
            <h1 class="auth__title">"Confirm your new address"</h1>
            <p class="auth__lede">"From then on you log in with it."</p>
            <PageForm outcome>
                <TokenField />
                <div class="auth__form">
                    <Submit>"Confirm address"</Submit>
                </div>
            </PageForm>
        </Card>
    }
}
