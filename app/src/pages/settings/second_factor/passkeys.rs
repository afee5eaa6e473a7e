//! The user's passkeys.

use leptos::prelude::*;
use platen_domain::second_factor::ListedPasskey;
use time::OffsetDateTime;

use crate::{
    outcome::{ButtonForm, DialogForm, Outcome, OutcomeErrors},
    pages::second_factor::api::{BeginPasskey, RemovePasskey},
    ui::{
        button::{OpenButton, Rank, Size, SubmitButton},
        dialog::Weight,
        moment::{Day, ago_or},
        passkey_button::NEEDS_HOST_NAME,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Name"),
    Column::text("Added").from_medium(),
    Column::text("Last used"),
    Column::ACTIONS,
];

/// Table of passkeys, with the dialogs that remove them.
#[component]
pub fn Passkeys(
    /// Oldest first.
    passkeys: Vec<ListedPasskey>,
    /// Whether another passkey can be added.
    more: bool,
    /// Whether passkeys work at the address of the service.
    work: bool,
    /// Whether the user also has an authenticator app.
    has_app: bool,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let (begin, errors) = (Outcome::of::<BeginPasskey>(), Outcome::about_nothing::<RemovePasskey>());
    let is_last = !has_app && passkeys.len() == 1;
    let dialogs = passkeys.clone().into_iter();
    let dialogs = dialogs.map(|passkey| view! { <Removal passkey is_last /> });
    let dialogs = dialogs.collect_view();
    let is_empty = passkeys.is_empty();
    let rows = passkeys.into_iter().map(|passkey| view! { <Row passkey now /> });
    view! {
        <div class="stack">
            <h3>"Passkeys"</h3>
            <OutcomeErrors outcome=begin />
            <OutcomeErrors outcome=errors />
            {if is_empty {
                view! {
                    <p class="small">
                        "A passkey is stored in your phone, computer, password manager or security key, and confirms your identity by fingerprint, face or PIN."
                    </p>
                }
                    .into_any()
            } else {
                view! { <Table caption="Passkeys" columns=COLUMNS rows /> }
                    .into_any()
            }}
            {(!work).then(|| view! { <p class="small">{NEEDS_HOST_NAME}</p> })}
            {more
                .then(|| {
                    view! {
                        <ButtonForm outcome=begin>
                            <SubmitButton>"Add a passkey"</SubmitButton>
                        </ButtonForm>
                    }
                })}
            {dialogs}
        </div>
    }
}

#[component]
fn Row(passkey: ListedPasskey, now: OffsetDateTime) -> impl IntoView {
    view! {
        <tr>
            <th scope="row">{passkey.name.clone()}</th>
            <td class="table__medium">
                <Day at=passkey.inserted_at />
            </td>
            <td>{ago_or(passkey.used_at, now, "Never")}</td>
            <td class="table__actions">
                <OpenButton dialog=dialog(&passkey) rank=Rank::Quiet size=Size::Small>
                    "Remove"
                    <span class="visually-hidden">" " {passkey.name.clone()}</span>
                </OpenButton>
            </td>
        </tr>
    }
}

#[component]
fn Removal(passkey: ListedPasskey, is_last: bool) -> impl IntoView {
    let outcome = Outcome::about::<RemovePasskey>(&passkey.id.to_string());
    view! {
        <DialogForm
            outcome
            id=dialog(&passkey)
            title=format!("Remove the passkey {}", passkey.name)
            weight=Weight::Danger
            action="Remove"
        >
            <p>
                "It stops working here, but stays in your device or password manager until you delete it there."
                {is_last
                    .then_some(
                        " Your password alone then logs you in, and your recovery codes stop working.",
                    )}
            </p>
        </DialogForm>
    }
}

fn dialog(passkey: &ListedPasskey) -> String {
    format!("remove-passkey-{}", passkey.id)
}
