//! What ends a key: another one in its place, or nothing.

use leptos::prelude::*;
use time::{Duration, OffsetDateTime};

use crate::{
    model::{api_key::ApiKey, rejection::Field},
    outcome::{Outcome, dialog::DialogForm, field::FormField},
    pages::api_keys::api::{RevokeKey, RotateKey},
    ui::{dialog::Weight, moment::Ago, notice::WarningNotice, select::Select},
};

/// A key that was used within this time is in use.
const IN_USE: Duration = Duration::hours(1);
/// Hours for which a key that is replaced goes on.
const OVERLAPS: [(&str, &str); 4] = [
    ("0", "At once"),
    ("1", "In an hour"),
    ("24", "In 24 hours"),
    ("168", "In 7 days"),
];

/// `id` of the dialog that replaces a key.
pub fn rotate_dialog(key: &str) -> String {
    format!("rotate-{key}")
}

/// `id` of the dialog that ends a key.
pub fn revoke_dialog(key: &str) -> String {
    format!("revoke-{key}")
}

/// Both dialogs of a key.
#[component]
pub fn EndDialogs(
    /// Which one.
    api_key: ApiKey,
    /// The moment of the page.
    now: OffsetDateTime,
) -> impl IntoView {
    let rotate = Outcome::about::<RotateKey>(&api_key.id);
    let revoke = Outcome::about::<RevokeKey>(&api_key.id);
    let used = api_key.last_used_at.filter(|at| now - *at < IN_USE);
    let rotate = api_key.state(now).is_good().then(|| {
        view! {
            <DialogForm
                outcome=rotate
                id=rotate_dialog(&api_key.id)
                title=format!("Rotate “{}”", api_key.name)
                action="Rotate key"
            >
                <p>
                    "You get a new key with the same scopes, addresses and templates. The old one keeps working for a while, so you can change over without a gap."
                </p>
                <Select
                    name=Field::Overlap.name()
                    id=rotate.id(Field::Overlap)
                    label="Old key stops"
                    options=OVERLAPS.to_vec()
                    chosen=rotate.typed_or(Field::Overlap, "24")
                />
            </DialogForm>
        }
    });
    view! {
        {rotate}
        <DialogForm
            outcome=revoke
            id=revoke_dialog(&api_key.id)
            title=format!("Revoke “{}”", api_key.name)
            weight=Weight::Danger
            action="Revoke key"
        >
            <p>
                "Requests with this key are refused at once, with 401 " <code>"invalid_token"</code>
                ". This cannot be undone."
            </p>
            {used
                .map(|at| {
                    view! {
                        <WarningNotice>"It is in use: the last request came " <Ago at now /> "."</WarningNotice>
                    }
                })}
            <FormField outcome=revoke field=Field::Confirmation label="Type the name to confirm" />
        </DialogForm>
    }
}
