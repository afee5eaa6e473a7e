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
                "Invite members"
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
            lede="The owner manages the plan and can delete the account. Admins manage members, API keys, storage connections and webhooks. Members use templates and renders."
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
        "invited" => "Invitation sent. It expires in seven days.",
        "invited-again" => "Invitation resent. The previous link no longer works.",
        "withdrawn" => "Invitation withdrawn. Its link no longer works.",
        "role" => "Role changed.",
        "removed" => "Member removed. API keys that they created now belong to you.",
        "handed-over" => "Owner changed. You are now an admin.",
        "joined" => "You have joined this account.",
        _ => return None,
    })
}
