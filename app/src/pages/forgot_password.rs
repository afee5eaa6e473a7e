//! `/forgot-password`.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    layout::card::Card,
    model::rejection::Field,
    outcome::{Outcome, field::FormField, form::PageForm},
    pages::forgot_password::api::RequestPasswordReset,
    ui::button::Submit,
};

/// The page that requests a password reset.
#[component]
pub fn ForgotPassword() -> impl IntoView {
    let outcome = Outcome::of::<RequestPasswordReset>();
    view! {
        <Title text="Forgot password" />
        <Card>
            <h1 class="auth__title">"Forgot password"</h1>
            <p class="auth__lede">"We send a link that lets you choose a new one. It works once, for an hour."</p>
            <PageForm outcome>
                <div class="auth__form">
                    <FormField
                        outcome=outcome
                        field=Field::Email
                        label="Email"
                        kind="email"
                        autocomplete="username"
                    />
                    <Submit>"Send the link"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">
                <a href="/log-in">"Back to log in"</a>
            </div>
        </Card>
    }
}
