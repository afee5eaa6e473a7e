//! `/log-in/second-factor`: the second step of a log-in.

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use platen_domain::second_factor::Ways;

use crate::{
    layout::{card::CardPage, page::loaded},
    model::{own_path::OwnPath, rejection::Field},
    outcome::{FormField, OneTimeCodeField, Outcome, PageForm},
    pages::auth::api::ShowSecondFactor,
    ui::{
        button::{Rank, Submit},
        check::Check,
        field::Face,
        passkey_button::{Ceremony, NEEDS_HOST_NAME, PasskeyButton},
    },
};

const PATH: &str = "/log-in/second-factor";

/// The page. `next` of the query is the path to which it redirects; with `with=recovery` it asks for a recovery code.
#[component]
pub fn SecondStep() -> impl IntoView {
    let query = use_query_map();
    let next = OwnPath::after_log_in(query.read_untracked().get("next").as_deref());
    let by_recovery = query.read_untracked().get("with").as_deref() == Some("recovery");
    view! {
        <CardPage title="Second factor">
            {loaded(
                |backend| async move { backend.second_step().await },
                move |ways| {
                    if let Some(ways) = ways {
                        Either::Left(view! { <Step ways next by_recovery /> })
                    } else {
                        Either::Right(view! { <TooLate next /> })
                    }
                },
            )}
        </CardPage>
    }
}

#[component]
fn Step(ways: Ways, next: OwnPath, by_recovery: bool) -> impl IntoView {
    let outcome = Outcome::of::<ShowSecondFactor>();
    let without_codes = next.after(PATH).to_string();
    let with_codes = format!("{without_codes}&with=recovery");
    // Passkeys that were created at another address of the service can't be used.
    let by_recovery = by_recovery || (!ways.app && ways.passkey.is_none());
    let has_passkey = ways.passkey.is_some();
    let lede = match (by_recovery, ways.app, has_passkey) {
        (true, ..) => "Enter one of your recovery codes. Each works once.",
        (false, true, false) => "Enter the six-digit code from your authenticator app.",
        (false, true, true) => "Enter the six-digit code from your authenticator app, or use a passkey.",
        (false, false, _) => "Use a passkey: your browser asks for your fingerprint, face or PIN.",
    };
    let other = match (by_recovery, ways.app, has_passkey) {
        (false, ..) => Some(("Lost your device? ", "Use a recovery code", with_codes)),
        (true, true, _) => Some(("Have your app? ", "Use its code", without_codes)),
        (true, false, true) => Some(("Have your passkey? ", "Use it", without_codes)),
        (true, false, false) => None,
    };
    let remember = || view! { <Check name="remember" label="Don’t ask again on this device for 30 days" /> };
    let by_code = (by_recovery || ways.app).then(|| {
        let field = if by_recovery {
            Either::Left(view! {
                <FormField
                    outcome=outcome
                    field=Field::RecoveryCode
                    label="Recovery code"
                    face=Face::Code
                    focus=true
                />
            })
        } else {
            Either::Right(view! { <OneTimeCodeField outcome focus=true /> })
        };
        view! {
            {field}
            {remember()}
            <Submit>"Continue"</Submit>
        }
    });
    let rank = if ways.app { Rank::Plain } else { Rank::Primary };
    let by_passkey = ways.passkey.filter(|_| !by_recovery).map(|options| {
        view! {
            {(!ways.app).then(remember)}
            <PasskeyButton ceremony=Ceremony::Show options rank label="Use a passkey" />
        }
    });
    view! {
        <p class="auth__lede">{lede}</p>
        <PageForm outcome>
            <input type="hidden" name="next" value=next.to_string() />
            <div class="auth__form">
                {by_code} {by_passkey}
                {ways.unusable_passkeys.then(|| view! { <p class="small quiet">{NEEDS_HOST_NAME}</p> })}
            </div>
        </PageForm>
        {other
            .map(|(question, words, href)| {
                view! {
                    <div class="auth__other">
                        {question} <a href=href>{words}</a>
                    </div>
                }
            })}
    }
}

#[component]
fn TooLate(next: OwnPath) -> impl IntoView {
    view! {
        <p class="auth__lede">"Your log-in has expired. Enter your password again, then your second factor within ten minutes."</p>
        <div class="auth__other">
            <a href=next.after("/log-in").to_string()>"Log in"</a>
        </div>
    }
}
