//! `/sign-up`.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    model::rejection::Field,
    outcome::{
        Outcome,
        field::{FormField, NewPasswordField},
    },
    pages::sign_up::api::SignUp as SignUpFunction,
    ui::{button::Submit, form_errors::FormErrors},
};

/// The page.
#[component]
pub fn SignUp() -> impl IntoView {
    let sign_up = ServerAction::<SignUpFunction>::new();
    let outcome = Outcome::of(sign_up);
    view! {
        <Title text="Sign up" />
        <Card>
            <h1 class="auth__title">"Sign up"</h1>
            <p class="auth__lede">"Free to begin with. No card needed."</p>
            <ActionForm action=sign_up>
                <CsrfField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <FormField
                        outcome=outcome
                        field=Field::Name
                        label="Your name"
                        autocomplete="name"
                    />
                    <FormField
                        outcome=outcome
                        field=Field::Email
                        label="Work email"
                        kind="email"
                        autocomplete="email"
                    />
                    <FormField
                        outcome=outcome
                        field=Field::AccountName
                        label="Account name"
                        hint="Usually your company. You can change it later."
                        autocomplete="organization"
                    />
                    <NewPasswordField outcome=outcome label="Password" />
                    <Submit pending=outcome.pending>"Sign up"</Submit>
                </div>
            </ActionForm>
            <div class="auth__other">"Already signed up? " <a href="/log-in">"Log in"</a></div>
        </Card>
    }
}
