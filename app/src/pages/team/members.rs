//! Members of the account.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    ids::UserId,
    number::counted,
    role::{Permission, Role},
    team::Member,
};
use time::OffsetDateTime;

use crate::{
    layout::page::Section,
    model::{rejection::Field, team::Team},
    outcome::{ButtonForm, DialogForm, Outcome},
    pages::team::api::{ChangeRole, HandOver, LeaveAccount, RemoveMember},
    ui::{
        avatar::Avatar,
        button::{OpenButton, Rank, Size, SubmitButton},
        dialog::Weight,
        icon::Glyph,
        menu::{OpenItem, RowMenu},
        moment::ago_or,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Name"),
    Column::text("Email").from_medium(),
    Column::text("Role"),
    Column::text("Last seen").from_medium(),
    Column::ACTIONS,
];

const LEAVE: &str = "leave";

fn remove_dialog(user: UserId) -> String {
    format!("remove-{user}")
}

fn hand_over_dialog(user: UserId) -> String {
    format!("hand-over-{user}")
}

/// Table of members, and the dialogs that it opens.
#[component]
pub fn MembersSection(
    /// The account with its members.
    team: Team,
) -> impl IntoView {
    let (viewer, role, now, only) = (team.viewer, team.role, team.now, team.only_account);
    let note = counted(team.members.len() as u64, "member", "members");
    let others = team.members.iter().filter(|member| member.user != viewer);
    let dialogs = others
        .filter(|member| member.role != Role::Owner)
        .map(|member| view! { <Dialogs member=member.clone() viewer=role account=team.account.clone() /> });
    let dialogs = dialogs.collect_view();
    let leave = (role != Role::Owner).then(|| view! { <LeaveDialog account=team.account.clone() only /> });
    let rows = team
        .members
        .into_iter()
        .map(move |member| view! { <Row themselves=member.user == viewer member viewer=role now /> });
    view! {
        <Section heading="Members" note>
            <Table caption="Members" columns=COLUMNS rows />
            {dialogs}
            {leave}
        </Section>
    }
}

#[component]
fn Row(member: Member, themselves: bool, viewer: Role, now: OffsetDateTime) -> impl IntoView {
    let changes = viewer.may(Permission::ManagePeople) && member.role != Role::Owner;
    let role = if changes && !themselves {
        Either::Left(view! { <RoleForm member=member.clone() /> })
    } else {
        Either::Right(member.role.to_string())
    };
    let actions = match (themselves, changes) {
        (true, _) if member.role != Role::Owner => view! {
            <OpenButton dialog=LEAVE rank=Rank::Quiet size=Size::Small>
                "Leave"
            </OpenButton>
        }
        .into_any(),
        (false, true) => view! { <Menu member=member.clone() viewer /> }.into_any(),
        _ => ().into_any(),
    };
    let (called, email) = (member.called().to_owned(), member.email.clone());
    let named = called != email;
    view! {
        <tr>
            <th scope="row">
                <span class="person">
                    <Avatar name=called.clone() />
                    <span class="break">
                        {called}
                        {themselves.then(|| view! { <span class="quiet">" you"</span> })}
                        {named.then(|| view! { <span class="table__sub table__narrow">{email}</span> })}
                    </span>
                </span>
            </th>
            <td class="table__medium">
                <span class="break">{member.email.clone()}</span>
            </td>
            <td>{role}</td>
            <td class="table__medium">{ago_or(member.seen_at, now, "never")}</td>
            <td class="table__actions">{actions}</td>
        </tr>
    }
}

#[component]
fn RoleForm(member: Member) -> impl IntoView {
    let outcome = Outcome::of::<ChangeRole>();
    let options = [Role::Admin, Role::Member].map(|role| {
        view! {
            <option value=role.into_str() selected=role == member.role>
                {role.to_string()}
            </option>
        }
    });
    view! {
        <ButtonForm outcome class="cluster">
            <input type="hidden" name=Field::Subject.into_str() value=member.user.to_string() />
            <label>
                <span class="visually-hidden">"Role of " {member.called().to_owned()}</span>
                <select class="input" name=Field::Role.into_str()>
                    {options.into_iter().collect_view()}
                </select>
            </label>
            <SubmitButton rank=Rank::Quiet size=Size::Small>
                "Save"
                <span class="visually-hidden">" role of " {member.called().to_owned()}</span>
            </SubmitButton>
        </ButtonForm>
    }
}

#[component]
fn Menu(member: Member, viewer: Role) -> impl IntoView {
    let hand_over = viewer.may(Permission::TransferOwnership).then(|| {
        view! {
            <OpenItem dialog=hand_over_dialog(member.user) icon=Glyph::Key>
                "Make owner"
            </OpenItem>
        }
    });
    view! {
        <RowMenu id=format!("menu-{}", member.user) of=member.called().to_owned()>
            {hand_over}
            <OpenItem dialog=remove_dialog(member.user) danger=true icon=Glyph::Remove>
                "Remove"
            </OpenItem>
        </RowMenu>
    }
}

/// Dialogs for actions on another member.
#[component]
fn Dialogs(member: Member, viewer: Role, account: String) -> impl IntoView {
    let (called, user) = (member.called().to_owned(), member.user);
    let id = user.to_string();
    let remove = Outcome::about::<RemoveMember>(&id);
    let hand_over = Outcome::about::<HandOver>(&id);
    let new_owner = called.clone();
    let hand_over = viewer.may(Permission::TransferOwnership).then(|| {
        view! {
            <DialogForm
                outcome=hand_over
                id=hand_over_dialog(user)
                title=format!("Make {new_owner} the owner")
                weight=Weight::Danger
                action="Make owner"
            >
                <p>
                    {new_owner.clone()} " becomes the owner of " {account}
                    ", with its plan and the right to delete it. You become an admin. You can’t undo this."
                </p>
            </DialogForm>
        }
    });
    let removal = viewer.may(Permission::ManagePeople).then(|| {
        view! {
            <DialogForm
                outcome=remove
                id=remove_dialog(user)
                title=format!("Remove {called}")
                weight=Weight::Danger
                action="Remove"
            >
                <p>
                    {called.clone()} " loses access to this account at once. API keys that " {called.clone()}
                    " created keep working and pass to you."
                </p>
            </DialogForm>
        }
    });
    view! {
        {hand_over}
        {removal}
    }
}

#[component]
fn LeaveDialog(account: String, only: bool) -> impl IntoView {
    let outcome = Outcome::of::<LeaveAccount>();
    let end = only.then(|| {
        view! { <p>"This is your only account, so your log-in is deleted too. You can sign up again."</p> }
    });
    view! {
        <DialogForm outcome=outcome id=LEAVE title=format!("Leave {account}") weight=Weight::Danger action="Leave">
            <p>"You lose access to the account. API keys that you created keep working and pass to the owner."</p>
            {end}
        </DialogForm>
    }
}
