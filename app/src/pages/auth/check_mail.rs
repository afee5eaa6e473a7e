//! `/check-mail`: the next step after a sign-up, or after a password reset was requested (`?for=password`).

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;

use crate::{
    layout::{card::CardPage, page::loaded},
    model::rejection::Field,
    outcome::{FormField, Outcome, PageForm},
    pages::auth::api::{RequestPasswordReset, SendSignUpAgain},
    ui::{
        button::{Rank, Submit},
        notice::InfoNotice,
    },
};

/// The page. It doesn't reveal whether the address has an account.
#[component]
pub fn CheckMail() -> impl IntoView {
    let query = use_query_map().read_untracked();
    let about_password = query.get("for").as_deref() == Some("password");
    let again = query.get("sent").as_deref() == Some("again");
    view! {
        <CardPage title="Check your email">
            {loaded(
                |backend| async move { backend.mail_sent_to().await },
                move |email| {
                    let (outcome, change) = if about_password {
                        (Outcome::of::<RequestPasswordReset>(), "/forgot-password")
                    } else {
                        (Outcome::of::<SendSignUpAgain>(), "/sign-up")
                    };
                    view! {
                        <p class="auth__lede">{again.then_some("Email sent again. ")} {lede(about_password, email.as_deref())}</p>
                        <SendAgain outcome email change />
                    }
                },
            )}
            <div class="auth__other">
                <a href="/log-in">"Back to log in"</a>
            </div>
        </CardPage>
    }
}

/// Says where the mail went, and how long its link works.
fn lede(about_password: bool, email: Option<&str>) -> impl IntoView + use<> {
    let address = match email {
        Some(email) => Either::Left(view! { <b class="break">{email.to_owned()}</b> }),
        None => Either::Right("your address"),
    };
    if about_password {
        Either::Left(view! {
            "If an account uses "
            {address}
            ", we sent it a link. The link works once and expires in one hour."
        })
    } else {
        Either::Right(view! {
            "We sent a link to "
            {address}
            ". Open it within 24 hours and enter your password again."
        })
    }
}

#[component]
fn SendAgain(
    outcome: Outcome,
    /// Address of the last mail.
    email: Option<String>,
    /// Path of the form with the address.
    change: &'static str,
) -> impl IntoView {
    let field = match email {
        Some(email) => Either::Left(view! { <input type="hidden" name=Field::Email.into_str() value=email /> }),
        None => Either::Right(view! {
            <FormField outcome=outcome field=Field::Email label="Email" kind="email" autocomplete="email" />
        }),
    };
    view! {
        <PageForm outcome>
            <div class="auth__form">
                <InfoNotice>"No email after a few minutes? Check your spam folder, then send it again."</InfoNotice>
                {field}
                <Submit rank=Rank::Plain>"Send again"</Submit>
                <p class="small">
                    <a href=change>"Change address"</a>
                </p>
            </div>
        </PageForm>
    }
}
