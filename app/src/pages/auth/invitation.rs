//! `/invitation`: target of the link in invitations.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    role::Role,
    team::{Guest, OpenedInvitation},
};

use crate::{
    layout::{card::CardPage, page::loaded, shell::slug::api::LogOut},
    model::rejection::Field,
    outcome::{ButtonForm, FormField, NewPasswordField, Outcome, PageForm, TokenField},
    pages::{
        auth::api::{AcceptInvitation, JoinAsNew},
        query::address,
    },
    ui::{
        button::{ButtonLink, Rank, Submit},
        field::UsernameField,
        notice::WarningNotice,
    },
};

/// The page. It has a button, because mail scanners follow links too.
#[component]
pub fn Invitation() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    let wanted = token.clone();
    view! {
        <CardPage title="Invitation">
            {loaded(
                |backend| async move { backend.invitation(wanted).await },
                |(opened, guest)| view! { <Content opened guest token /> },
            )}
        </CardPage>
    }
}

#[component]
fn Content(opened: OpenedInvitation, guest: Guest, token: String) -> impl IntoView {
    let account = if opened.account_name.is_empty() {
        "a Platen account".to_owned()
    } else {
        opened.account_name
    };
    let role = match opened.role {
        Role::Member => "as a member. Members use templates, the playground and renders.",
        Role::Admin => "as an admin. Admins also manage members, API keys, storage connections and webhooks.",
        Role::Owner => "as its owner.",
    };
    let what_next = match guest {
        Guest::Themselves => view! { <AcceptForm /> }.into_any(),
        Guest::OtherUser(email) => view! { <OtherAddress email wanted=opened.email.clone() /> }.into_any(),
        Guest::LoggedOut => view! { <LogInFirst token /> }.into_any(),
        Guest::New => view! { <JoinForm email=opened.email.clone() /> }.into_any(),
    };
    view! {
        <p class="auth__lede">
            <strong class="break">{opened.invited_by}</strong> " has invited " <span class="break">{opened.email}</span> " to "
            <strong class="break">{account}</strong> " " {role}
        </p>
        {what_next}
    }
}

#[component]
fn AcceptForm() -> impl IntoView {
    let outcome = Outcome::of::<AcceptInvitation>();
    view! {
        <PageForm outcome>
            <TokenField />
            <div class="auth__form">
                <Submit>"Join"</Submit>
            </div>
        </PageForm>
    }
}

#[component]
fn OtherAddress(email: String, wanted: String) -> impl IntoView {
    let outcome = Outcome::of::<LogOut>();
    view! {
        <div class="auth__form">
            <WarningNotice>
                "You are logged in as " {email} ". Only " {wanted}
                " can accept this invitation. Log out, then open the link again."
            </WarningNotice>
            <ButtonForm outcome>
                <Submit rank=Rank::Plain>"Log out"</Submit>
            </ButtonForm>
        </div>
    }
}

#[component]
fn LogInFirst(token: String) -> impl IntoView {
    let back = address("/invitation", [("token", Some(token))]);
    let log_in = address("/log-in", [("next", Some(back))]);
    view! {
        <div class="auth__form">
            <ButtonLink href=log_in rank=Rank::Primary>
                "Log in to join"
            </ButtonLink>
        </div>
    }
}

/// Form for new users. Their address needs no further confirmation: they received the link there.
#[component]
fn JoinForm(email: String) -> impl IntoView {
    let outcome = Outcome::of::<JoinAsNew>();
    view! {
        <PageForm outcome>
            <TokenField />
            <UsernameField email />
            <div class="auth__form">
                <FormField outcome=outcome field=Field::Name label="Your name" autocomplete="name" focus=true />
                <NewPasswordField outcome=outcome label="Password" />
                <Submit>"Sign up and join"</Submit>
            </div>
        </PageForm>
    }
}
