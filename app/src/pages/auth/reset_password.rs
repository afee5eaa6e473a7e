//! `/reset-password`: target of the link in password reset mails.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::one_time_token::Purpose;

use crate::{
    layout::{card::CardPage, page::loaded},
    outcome::{NewPasswordField, Outcome, PageForm, TokenField},
    pages::auth::api::ResetPassword as ResetPasswordFunction,
    ui::{button::Submit, field::UsernameField},
};

/// The page that sets a new password.
#[component]
pub fn ResetPassword() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    view! {
        <CardPage
            title="Choose a new password"
            lede="All sessions are logged out. Log in again with the new password."
        >
            {loaded(
                move |backend| async move { backend.address_of_link(Purpose::ResetPassword, token).await },
                |email| view! { <Form email /> },
            )}
            <div class="auth__other">
                <a href="/forgot-password">"Request a new link"</a>
            </div>
        </CardPage>
    }
}

#[component]
fn Form(
    /// Address to which the link was mailed; `None` if the link is no longer valid.
    email: Option<String>,
) -> impl IntoView {
    let outcome = Outcome::of::<ResetPasswordFunction>();
    view! {
        <PageForm outcome>
            <TokenField />
            {email
                .map(|email| {
                    view! {
                        <p class="auth__lede">"For " <b class="break">{email.clone()}</b></p>
                        <UsernameField email />
                    }
                })}
            <div class="auth__form">
                <NewPasswordField outcome=outcome label="New password" focus=true />
                <Submit>"Set password"</Submit>
            </div>
        </PageForm>
    }
}
