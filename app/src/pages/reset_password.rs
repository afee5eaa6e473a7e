//! `/reset-password`: where the link to another password leads.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    outcome::{Outcome, field::NewPasswordField},
    pages::reset_password::api::ResetPassword as ResetPasswordFunction,
    ui::{button::Submit, form_errors::FormErrors, token_field::TokenField},
};

/// The page.
#[component]
pub fn ResetPassword() -> impl IntoView {
    let reset = ServerAction::<ResetPasswordFunction>::new();
    let outcome = Outcome::of(reset);
    view! {
        <Title text="Choose a new password" />
        <Card>
            <h1 class="auth__title">"Choose a new password"</h1>
            <p class="auth__lede">"You are logged out everywhere, and log in with the new one."</p>
            <ActionForm action=reset>
                <CsrfField />
                <TokenField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <NewPasswordField outcome=outcome label="New password" />
                    <Submit pending=outcome.pending>"Set password"</Submit>
                </div>
            </ActionForm>
            <div class="auth__other">
                <a href="/forgot-password">"Ask for a new link"</a>
            </div>
        </Card>
    }
}
