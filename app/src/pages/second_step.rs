//! `/log-in/second-factor`: the second step of a log-in.

pub mod api;

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::{
    layout::{card::Card, loaded::loaded},
    model::{own_path::OwnPath, rejection::Field},
    outcome::{Outcome, field::FormField, form::PageForm},
    pages::second_step::api::ShowSecondFactor,
    ui::{button::Submit, check::Check, field::Face},
};

const PATH: &str = "/log-in/second-factor";

/// The page. `next` of its query says where it leads; with `with=recovery` it asks for a recovery code.
#[component]
pub fn SecondStep() -> impl IntoView {
    let query = use_query_map();
    let next = OwnPath::after_log_in(query.read_untracked().get("next").as_deref());
    let by_recovery = query.read_untracked().get("with").as_deref() == Some("recovery");
    view! {
        <Title text="Second factor" />
        <Card>
            <h1 class="auth__title">"Second factor"</h1>
            {loaded(
                |backend| async move { backend.is_at_second_step().await },
                move |waits| {
                    if waits {
                        Either::Left(view! { <Step next by_recovery /> })
                    } else {
                        Either::Right(view! { <TooLate next /> })
                    }
                },
            )}
        </Card>
    }
}

#[component]
fn Step(next: OwnPath, by_recovery: bool) -> impl IntoView {
    let outcome = Outcome::of::<ShowSecondFactor>();
    let by_app = next.after(PATH).to_string();
    let (lede, field, other, href) = if by_recovery {
        (
            "Enter one of the recovery codes that you have kept. Each works once.",
            view! {
                <FormField
                    outcome=outcome
                    field=Field::RecoveryCode
                    label="Recovery code"
                    face=Face::Code
                    focus=true
                />
            }
            .into_any(),
            ("Your app is at hand? ", "Use its code"),
            by_app,
        )
    } else {
        (
            "Enter the six digits that your authenticator app shows for Platen.",
            view! {
                <FormField
                    outcome=outcome
                    field=Field::Code
                    label="Code"
                    autocomplete="one-time-code"
                    face=Face::Digits
                    focus=true
                />
            }
            .into_any(),
            ("No device at hand? ", "Use a recovery code"),
            format!("{by_app}&with=recovery"),
        )
    };
    view! {
        <p class="auth__lede">{lede}</p>
        <PageForm outcome>
            <input type="hidden" name="next" value=next.to_string() />
            <div class="auth__form">
                {field} <Check name="remember" label="Do not ask on this device for 30 days" />
                <Submit>"Continue"</Submit>
            </div>
        </PageForm>
        <div class="auth__other">
            {other.0} <a href=href>{other.1}</a>
        </div>
    }
}

#[component]
fn TooLate(next: OwnPath) -> impl IntoView {
    view! {
        <p class="auth__lede">"Ten minutes have passed since you entered your password, or you have not entered it yet."</p>
        <div class="auth__other">
            <a href=next.after("/log-in").to_string()>"Log in"</a>
        </div>
    }
}
