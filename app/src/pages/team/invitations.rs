//! Invitations to the account.

use leptos::prelude::*;
use platen_domain::{role::Role, team::Invitation};
use time::OffsetDateTime;

use crate::{
    layout::page::Section,
    model::rejection::Field,
    outcome::{DialogForm, FormField, Outcome, RowButton},
    pages::team::api::{Invite, InviteAgain, WithdrawInvitation},
    ui::{
        badge::{Badge, State},
        button::Rank,
        moment::{Day, length},
        radio::Radio,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Email"),
    Column::text("Role").from_medium(),
    Column::text("Invited").from_medium(),
    Column::text("Status"),
    Column::ACTIONS,
];

/// Table of invitations.
#[component]
pub fn InvitationsSection(
    /// Newest first.
    invitations: Vec<Invitation>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = invitations
        .into_iter()
        .map(move |invitation| view! { <Row invitation now /> });
    view! {
        <Section heading="Invitations">
            <Table caption="Invitations" columns=COLUMNS rows />
        </Section>
    }
}

#[component]
fn Row(invitation: Invitation, now: OffsetDateTime) -> impl IntoView {
    let id = invitation.id.to_string();
    let again = Outcome::about::<InviteAgain>(&id);
    let withdraw = Outcome::about::<WithdrawInvitation>(&id);
    let left = invitation.expires_at - now;
    let (state, words) = if left.is_positive() {
        (State::Open, format!("Pending, {} left", length(left)))
    } else {
        (State::Struck, "Expired".to_owned())
    };
    view! {
        <tr>
            <th scope="row">
                <span class="break">{invitation.email.clone()}</span>
                <span class="table__sub table__narrow">{invitation.role.to_string()}</span>
            </th>
            <td class="table__medium">{invitation.role.to_string()}</td>
            <td class="table__medium">
                <Day at=invitation.invited_at />
                ", "
                <span class="break">{invitation.invited_by}</span>
            </td>
            <td>
                <Badge state>{words}</Badge>
            </td>
            <td class="table__actions">
                <RowButton outcome=again rank=Rank::Quiet words="Resend" of=format!(" to {}", invitation.email) />
                <RowButton
                    outcome=withdraw
                    rank=Rank::Quiet
                    words="Withdraw"
                    of=format!(" invitation of {}", invitation.email)
                />
            </td>
        </tr>
    }
}

/// The dialog that sends invitations.
#[component]
pub fn InviteDialog(
    /// Name of the account.
    account: String,
) -> impl IntoView {
    let outcome = Outcome::of::<Invite>();
    let chosen = outcome.typed_or(Field::Role, Role::Member.into_str());
    view! {
        <DialogForm outcome=outcome id="invite" title=format!("Invite to {account}") action="Send invitation">
            <FormField
                outcome=outcome
                field=Field::Emails
                label="Email"
                hint="Separate several addresses with commas."
                focus=true
            />
            <fieldset class="fieldset">
                <legend class="fieldset__legend">"Role"</legend>
                <Radio
                    name=Field::Role.into_str()
                    value=Role::Member.into_str()
                    label="Member"
                    hint="Uses templates, the playground and renders"
                    checked=chosen == Role::Member.into_str()
                />
                <Radio
                    name=Field::Role.into_str()
                    value=Role::Admin.into_str()
                    label="Admin"
                    hint="Also manages members, API keys, storage connections and webhooks"
                    checked=chosen == Role::Admin.into_str()
                />
            </fieldset>
        </DialogForm>
    }
}
