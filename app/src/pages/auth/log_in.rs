//! `/log-in`.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    layout::card::CardPage,
    model::rejection::Field,
    outcome::{Done, FormField, Outcome, PageForm},
    pages::auth::api::LogIn as LogInFunction,
    ui::{button::Submit, check::Check, field::TextField},
};

/// The log-in page. `next` of the query is the path to which it redirects.
#[component]
pub fn LogIn() -> impl IntoView {
    let outcome = Outcome::of::<LogInFunction>();
    let next = use_query_map().read_untracked().get("next");
    view! {
        <CardPage title="Log in" lede="Access your dashboard and API keys.">
            <Done about=done />
            <PageForm outcome>
                {next.map(|next| view! { <input type="hidden" name="next" value=next /> })}
                <div class="auth__form">
                    <FormField
                        outcome=outcome
                        field=Field::Email
                        label="Email"
                        kind="email"
                        autocomplete="username"
                        focus=true
                    />
                    <TextField
                        name=Field::Password.into_str()
                        label="Password"
                        kind="password"
                        autocomplete="current-password"
                    />
                    <div class="cluster cluster--spread">
                        <Check name="stay" label="Stay logged in for 30 days" />
                        <a class="small" href="/forgot-password">
                            "Forgot password"
                        </a>
                    </div>
                    <Submit>"Log in"</Submit>
                </div>
            </PageForm>
            <div class="auth__other">"New here? " <a href="/sign-up">"Sign up"</a></div>
        </CardPage>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    (word == "password").then_some("Password changed, and all sessions logged out. Log in with your new password.")
}
