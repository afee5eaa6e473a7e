//! `/forgot-password`.

use leptos::prelude::*;

use crate::{
    layout::card::CardPage,
    model::rejection::Field,
    outcome::{FormField, Outcome, PageForm},
    pages::auth::api::RequestPasswordReset,
    ui::button::Submit,
};

/// The page that requests a password reset.
#[component]
pub fn ForgotPassword() -> impl IntoView {
    let outcome = Outcome::of::<RequestPasswordReset>();
    view! {
        <CardPage
            title="Forgot password"
            lede="We’ll email you a link to choose a new password. It works once and expires in one hour."
        >
            <PageForm outcome>
                <div class="auth__form">
                    <FormField
                        outcome=outcome
                        field=Field::Email
                        label="Email"
                        kind="email"
                        autocomplete="username"
                        focus=true
                    />
                    <Submit>"Send link"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">
                <a href="/log-in">"Back to log in"</a>
            </div>
        </CardPage>
    }
}
