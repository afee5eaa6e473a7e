//! `/sign-up/verify`: where the link of a sign-up leads.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    model::rejection::Field,
    outcome::Outcome,
    pages::verify::api::VerifySignUp,
    ui::{button::Submit, field::TextField, form_errors::FormErrors, token_field::TokenField},
};

/// The page. It asks for the password, so that nobody confirms what somebody else has prepared.
#[component]
pub fn Verify() -> impl IntoView {
    let verify = ServerAction::<VerifySignUp>::new();
    let outcome = Outcome::of(verify);
    view! {
        <Title text="Confirm your address" />
        <Card>
            <h1 class="auth__title">"Confirm your address"</h1>
            <p class="auth__lede">"Type the password that you chose; then your account is ready."</p>
            <ActionForm action=verify>
                <CsrfField />
                <TokenField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <TextField
                        name=Field::Password.name()
                        label="Password"
                        kind="password"
                        autocomplete="current-password"
                    />
                    <Submit pending=outcome.pending>"Confirm address"</Submit>
                </div>
            </ActionForm>
            <div class="auth__other">
                <a href="/check-mail">"Send the link again"</a>
            </div>
        </Card>
    }
}
