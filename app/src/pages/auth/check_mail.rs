//! `/check-mail`: the next step after a sign-up, or after a password reset was requested (`?for=password`).

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;

use crate::{
    layout::card::CardPage,
    model::rejection::Field,
    outcome::{FormField, Outcome, PageForm},
    pages::auth::api::SendSignUpAgain,
    ui::{
        button::{ButtonLink, Rank, Submit},
        notice::InfoNotice,
    },
};

/// The page. It doesn't reveal whether the address has an account.
#[component]
pub fn CheckMail() -> impl IntoView {
    let query = use_query_map();
    let about_password = query.read_untracked().get("for").as_deref() == Some("password");
    let again = query.read_untracked().get("sent").as_deref() == Some("again");
    view! {
        <CardPage title="Check your mail">
            {if about_password {
                Either::Left(
                    view! {
                        <p class="auth__lede">
                            "If your address has an account, a link is on its way. It can take a minute."
                        </p>
                        <div class="auth__form">
                            <InfoNotice>"Nothing there? Look in the spam folder, then send it again."</InfoNotice>
                            <ButtonLink href="/forgot-password">"Send again"</ButtonLink>
                        </div>
                    },
                )
            } else {
                Either::Right(
                    view! {
                        <p class="auth__lede">
                            {if again { "We have sent it again. " } else { "" }}
                            "A link is on its way to your address. Open it within 24 hours and type your password again."
                        </p>
                        <SendAgain />
                    },
                )
            }}
            <div class="auth__other">
                <a href="/log-in">"Back to log in"</a>
            </div>
        </CardPage>
    }
}

#[component]
fn SendAgain() -> impl IntoView {
    let outcome = Outcome::of::<SendSignUpAgain>();
    view! {
        <PageForm outcome>
            <div class="auth__form">
                <InfoNotice>"Nothing there? Look in the spam folder, then send it again."</InfoNotice>
                <FormField
                    outcome=outcome
                    field=Field::Email
                    label="Work email"
                    kind="email"
                    autocomplete="email"
                />
                <Submit rank=Rank::Plain>
                    "Send again"
                </Submit>
            </div>
        </PageForm>
    }
}
