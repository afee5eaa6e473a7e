//! `/forgot-password`.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    model::rejection::Field,
    outcome::{Outcome, field::FormField},
    pages::forgot_password::api::RequestPasswordReset,
    ui::{button::Submit, form_errors::FormErrors},
};

/// The page.
#[component]
pub fn ForgotPassword() -> impl IntoView {
    let request = ServerAction::<RequestPasswordReset>::new();
    let outcome = Outcome::of(request);
    view! {
        <Title text="Forgot password" />
        <Card>
            <h1 class="auth__title">"Forgot password"</h1>
            <p class="auth__lede">"We send a link that lets you choose a new one. It works once, for an hour."</p>
            <ActionForm action=request>
                <CsrfField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <FormField
                        outcome=outcome
                        field=Field::Email
                        label="Email"
                        kind="email"
                        autocomplete="username"
                    />
                    <Submit pending=outcome.pending>"Send the link"</Submit>
                </div>
            </ActionForm>
            <div class="auth__other">
                <a href="/log-in">"Back to log in"</a>
            </div>
        </Card>
    }
}
