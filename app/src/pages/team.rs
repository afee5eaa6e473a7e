//! `/dashboard/team`: members and invitations of the account.

pub mod api;
pub mod invitations;
pub mod log;
pub mod members;

use leptos::prelude::*;
use platen_domain::role::Permission;

use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::team::Team as Found,
    outcome::{Done, Outcome, OutcomeErrors},
    pages::team::{
        api::{ChangeRole, HandOver, InviteAgain, RemoveMember, WithdrawInvitation},
        invitations::{InvitationsSection, InviteDialog},
        members::MembersSection,
    },
    ui::{
        button::{ButtonLink, OpenButton, Rank},
        icon::Glyph,
    },
};

/// The team page.
#[component]
pub fn Team() -> impl IntoView {
    view! {
        <Shell title="Team" current=Entry::Team>
            {loaded(|backend| async move { backend.team().await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

#[component]
fn Content(found: Found) -> impl IntoView {
    let manages = found.role.may(Permission::ManagePeople);
    let invite = manages.then(|| {
        view! {
            <OpenButton dialog="invite" rank=Rank::Primary icon=Glyph::Add>
                "Invite"
            </OpenButton>
        }
    });
    let log = found.role.may(Permission::ReadLog).then(|| {
        view! {
            <ButtonLink href=log::PATH icon=Glyph::Clock>
                "Activity"
            </ButtonLink>
        }
    });
    let dialog = manages.then(|| view! { <InviteDialog account=found.account.clone() /> });
    let (now, invitations) = (found.now, found.invitations.clone());
    let invitations = (!invitations.is_empty()).then(|| view! { <InvitationsSection invitations now /> });
    view! {
        <PageHead
            title="Team"
            lede="The owner holds the plan and can delete the account. Admins manage people, keys, destinations and webhooks. Members work with templates and renders."
        >
            {log} {invite}
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome={Outcome::of::<ChangeRole>()} />
        <OutcomeErrors outcome={Outcome::about_nothing::<RemoveMember>()} />
        <OutcomeErrors outcome={Outcome::about_nothing::<HandOver>()} />
        <OutcomeErrors outcome={Outcome::of::<InviteAgain>()} />
        <OutcomeErrors outcome={Outcome::of::<WithdrawInvitation>()} />
        <MembersSection team=found />
        {invitations}
        {dialog}
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "invited" => "Invitation sent. It works for seven days.",
        "invited-again" => "Invitation sent again. The former link does not work any more.",
        "withdrawn" => "Invitation withdrawn. Its link does not work any more.",
        "role" => "Role changed.",
        "removed" => "Removed. Their keys go on, in your name.",
        "handed-over" => "Account handed over. You are an admin of it from now on.",
        "joined" => "Welcome. You belong to this account from now on.",
        _ => return None,
    })
}
