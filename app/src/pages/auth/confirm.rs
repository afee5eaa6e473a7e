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

/// The page. `next` of the query is the path to which it redirects; with `with=code` it asks for the second factor.
#[component]
pub fn Confirm() -> impl IntoView {
    let query = use_query_map();
    let next = OwnPath::after_log_in(query.read_untracked().get("next").as_deref());
    let by_code = query.read_untracked().get("with").as_deref() == Some("code");
    view! {
        <CardPage title="Confirm that it is you">
            {loaded(
                |backend| async move { backend.ask_for_second_factor().await },
                move |ways| view! { <Form ways next by_code /> },
            )}
        </CardPage>
    }
}

#[component]
fn Form(ways: Ways, next: OwnPath, by_code: bool) -> impl IntoView {
    let outcome = Outcome::of::<ConfirmFunction>();
    let by_password = next.after(CONFIRM).to_string();
    let next = next.to_string();
    let next_of_passkey = next.clone();
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
            "Use the code of your authenticator app",
            format!("{by_password}&with=code"),
        )
    };
    view! {
        <p class="auth__lede">"It is more than ten minutes since you last did. Afterwards you are back where you were."</p>
        <PageForm outcome>
            <input type="hidden" name="next" value=next />
            <div class="auth__form">{field} <Submit>"Confirm"</Submit></div>
        </PageForm>
        {ways
            .passkey
            .map(|options| {
                view! {
                    <ButtonForm outcome class="auth__form">
                        <input type="hidden" name="next" value=next_of_passkey />
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
