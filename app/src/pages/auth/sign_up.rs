//! `/sign-up`.

use leptos::prelude::*;

use crate::{
    layout::card::CardPage,
    model::rejection::Field,
    outcome::{FormField, NewPasswordField, Outcome, PageForm},
    pages::auth::api::SignUp as SignUpFunction,
    ui::button::Submit,
};

/// The sign-up page.
#[component]
pub fn SignUp() -> impl IntoView {
    let outcome = Outcome::of::<SignUpFunction>();
    view! {
        <CardPage title="Sign up" lede="Free plan, no credit card.">
            <PageForm outcome>
                <div class="auth__form">
                    <FormField
                        outcome=outcome
                        field=Field::Name
                        label="Your name"
                        autocomplete="name"
                        focus=true
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
                    <Submit>"Sign up"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">"Have an account? " <a href="/log-in">"Log in"</a></div>
        </CardPage>
    }
}
