//! `/sign-up`.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    model::rejection::Field,
    outcome::Outcome,
    pages::sign_up::api::SignUp as SignUpFunction,
    ui::{button::Submit, field::TextField, form_errors::FormErrors},
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
                    <TextField
                        name=Field::Name.name()
                        label="Your name"
                        autocomplete="name"
                        value=outcome.typed(Field::Name)
                        fault=outcome.fault(Field::Name)
                    />
                    <TextField
                        name=Field::Email.name()
                        label="Work email"
                        kind="email"
                        autocomplete="email"
                        value=outcome.typed(Field::Email)
                        fault=outcome.fault(Field::Email)
                    />
                    <TextField
                        name=Field::AccountName.name()
                        label="Account name"
                        hint="Usually your company. You can change it later."
                        autocomplete="organization"
                        value=outcome.typed(Field::AccountName)
                        fault=outcome.fault(Field::AccountName)
                    />
                    <TextField
                        name=Field::Password.name()
                        label="Password"
                        kind="password"
                        hint="At least 12 characters. A phrase is easier to remember."
                        autocomplete="new-password"
                        fault=outcome.fault(Field::Password)
                    />
                    <Submit pending=outcome.pending>"Sign up"</Submit>
                </div>
            </ActionForm>
            <div class="auth__other">"Already signed up? " <a href="/log-in">"Log in"</a></div>
        </Card>
    }
}
