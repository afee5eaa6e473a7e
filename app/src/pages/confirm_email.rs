//! `/settings/confirm-email`: where the link to another address leads.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    outcome::Outcome,
    pages::confirm_email::api::ConfirmEmail as ConfirmEmailFunction,
    ui::{button::Submit, form_errors::FormErrors, token_field::TokenField},
};

/// The page. It asks, because programs follow links in mails as well.
#[component]
pub fn ConfirmEmail() -> impl IntoView {
    let confirm = ServerAction::<ConfirmEmailFunction>::new();
    let outcome = Outcome::of(confirm);
    view! {
        <Title text="Confirm your new address" />
        <Card>
            <h1 class="auth__title">"Confirm your new address"</h1>
            <p class="auth__lede">"From then on you log in with it."</p>
            <ActionForm action=confirm>
                <CsrfField />
                <TokenField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <Submit pending=outcome.pending>"Confirm address"</Submit>
                </div>
            </ActionForm>
        </Card>
    }
}
