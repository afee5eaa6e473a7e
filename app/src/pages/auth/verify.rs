//! `/sign-up/verify`: target of the link in sign-up mails.

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use platen_domain::one_time_token::Purpose;

use crate::{
    layout::{card::CardPage, page::loaded},
    model::rejection::Field,
    outcome::{Outcome, PageForm, TokenField},
    pages::auth::api::VerifySignUp,
    ui::{
        button::Submit,
        field::{TextField, UsernameField},
    },
};

/// The page. It asks for the password, to prevent users from confirming a sign-up that another person has started
/// with their address.
#[component]
pub fn Verify() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    view! {
        <CardPage title="Confirm your address">
            {loaded(
                move |backend| async move { backend.address_of_link(Purpose::Verify, token).await },
                |email| view! { <Form email /> },
            )}
            <div class="auth__other">
                <a href="/check-mail">"Send the link again"</a>
            </div>
        </CardPage>
    }
}

#[component]
fn Form(
    /// Address to which the link was mailed; `None` if the link is no longer valid.
    email: Option<String>,
) -> impl IntoView {
    let outcome = Outcome::of::<VerifySignUp>();
    let address = match email.clone() {
        Some(email) => Either::Left(view! { "To create the account of " <b class="break">{email}</b> }),
        None => Either::Right("To create your account"),
    };
    view! {
        <p class="auth__lede">
            {address}
            ", enter the password that you chose at sign-up. It confirms that you signed up yourself."
        </p>
        <PageForm outcome>
            <TokenField />
            {email.map(|email| view! { <UsernameField email /> })}
            <div class="auth__form">
                <TextField
                    name=Field::Password.into_str()
                    label="Password"
                    kind="password"
                    autocomplete="current-password"
                    focus=true
                />
                <Submit>"Confirm address"</Submit>
            </div>
        </PageForm>
    }
}
