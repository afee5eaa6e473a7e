//! `/dashboard/confirm`: confirms the logged-in user's identity before actions for which a session is not enough.

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use platen_domain::second_factor::Ways;

use crate::{
    layout::{card::CardPage, page::loaded},
    model::{
        own_path::{CONFIRM, OwnPath},
        rejection::Field,
    },
    outcome::{ButtonForm, OneTimeCodeField, Outcome, PageForm},
    pages::auth::api::Confirm as ConfirmFunction,
    ui::{
        button::Submit,
        field::TextField,
        passkey_button::{Ceremony, PasskeyButton},
    },
};

/// The page. `next` of the query is the path to which it redirects, and `form` the id of the refused form that is
/// submitted again instead; with `with=code` it asks for the second factor.
#[component]
pub fn Confirm() -> impl IntoView {
    let query = use_query_map();
    let next = OwnPath::after_log_in(query.read_untracked().get("next").as_deref());
    let form = query.read_untracked().get("form");
    let form = form.filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let by_code = query.read_untracked().get("with").as_deref() == Some("code");
    view! {
        <CardPage title="Confirm your identity">
            {loaded(
                |backend| async move { backend.ask_for_second_factor().await },
                move |ways| view! { <Form ways next form by_code /> },
            )}
        </CardPage>
    }
}

#[component]
fn Form(ways: Ways, next: OwnPath, form: Option<String>, by_code: bool) -> impl IntoView {
    let outcome = Outcome::of::<ConfirmFunction>();
    let mut by_password = next.after(CONFIRM).to_string();
    if let Some(form) = &form {
        by_password = format!("{by_password}&form={form}");
    }
    let continuation = move || {
        view! {
            <input type="hidden" name="next" value=next.to_string() />
            {form.clone().map(|form| view! { <input type="hidden" name="form" value=form /> })}
        }
    };
    let continuation_of_passkey = continuation.clone();
    let by_code = by_code && ways.app;
    let field = if by_code {
        Either::Left(view! { <OneTimeCodeField outcome focus=true /> })
    } else {
        Either::Right(view! {
            <TextField
                name=Field::Password.into_str()
                label="Your password"
                kind="password"
                autocomplete="current-password"
                focus=true
            />
        })
    };
    let (words, href) = if by_code {
        ("Use your password", by_password)
    } else {
        (
            "Use a code from your authenticator app",
            format!("{by_password}&with=code"),
        )
    };
    view! {
        <p class="auth__lede">"Confirm your identity to continue. The confirmation is valid for ten minutes."</p>
        <PageForm outcome>
            {continuation()}
            <div class="auth__form">{field} <Submit>"Confirm"</Submit></div>
        </PageForm>
        {ways
            .passkey
            .map(|options| {
                view! {
                    <ButtonForm outcome class="auth__form">
                        {continuation_of_passkey()}
                        <PasskeyButton ceremony=Ceremony::Show options label="Use a passkey" />
                    </ButtonForm>
                }
            })}
        <div class="auth__other stack">
            {ways
                .app
                .then(|| {
                    view! {
                        <p>
                            <a href=href>{words}</a>
                        </p>
                    }
                })} <p>
                <a href="/dashboard">"Cancel"</a>
            </p>
        </div>
    }
}
