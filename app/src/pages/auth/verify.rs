//! `/sign-up/verify`: target of the link in sign-up mails.

use leptos::prelude::*;

use crate::{
    layout::card::CardPage,
    model::rejection::Field,
    outcome::{Outcome, PageForm, TokenField},
    pages::auth::api::VerifySignUp,
    ui::{button::Submit, field::TextField},
};

/// The page. It asks for the password, to prevent users from confirming a sign-up that another person has started
/// with their address.
#[component]
pub fn Verify() -> impl IntoView {
    let outcome = Outcome::of::<VerifySignUp>();
    view! {
        <CardPage
            title="Confirm your address"
            lede="Enter the password that you chose at sign-up to create your account."
        >
            <PageForm outcome>
                <TokenField />
                <div class="auth__form">
                    <TextField
                        name=Field::Password.into_str()
                        label="Password"
                        kind="password"
                        autocomplete="current-password"
                    />
                    <Submit>"Confirm address"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">
                <a href="/check-mail">"Send the link again"</a>
            </div>
        </CardPage>
    }
}
