//! `/reset-password`: target of the link in password reset mails.

use leptos::prelude::*;

use crate::{
    layout::card::CardPage,
    outcome::{NewPasswordField, Outcome, PageForm, TokenField},
    pages::auth::api::ResetPassword as ResetPasswordFunction,
    ui::button::Submit,
};

/// The page that sets a new password.
#[component]
pub fn ResetPassword() -> impl IntoView {
    let outcome = Outcome::of::<ResetPasswordFunction>();
    view! {
        <CardPage
            title="Choose a new password"
            lede="All sessions are logged out. Log in again with the new password."
        >
            <PageForm outcome>
                <TokenField />
                <div class="auth__form">
                    <NewPasswordField outcome=outcome label="New password" />
                    <Submit>"Set password"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">
                <a href="/forgot-password">"Request a new link"</a>
            </div>
        </CardPage>
    }
}
