//! Dialogs that rotate or revoke a key.

use leptos::prelude::*;
use platen_domain::{api_key::ApiKey, ids::ApiKeyId};
use time::{Duration, OffsetDateTime};

use crate::{
    model::rejection::Field,
    outcome::{DialogForm, FormField, Outcome},
    pages::api_keys::api::{RevokeKey, RotateKey},
    ui::{dialog::Weight, moment::Ago, notice::WarningNotice, select::Select},
};

/// A key counts as in use if its last request is more recent than this.
const IN_USE: Duration = Duration::hours(1);
/// Hours for which a rotated key stays valid, with their labels.
const OVERLAPS: [(&str, &str); 4] = [
    ("0", "At once"),
    ("1", "In an hour"),
    ("24", "In 24 hours"),
    ("168", "In 7 days"),
];

/// Returns the `id` of the dialog that rotates a key.
pub fn rotate_dialog(key: ApiKeyId) -> String {
    format!("rotate-{key}")
}

/// Returns the `id` of the dialog that revokes a key.
pub fn revoke_dialog(key: ApiKeyId) -> String {
    format!("revoke-{key}")
}

/// The dialogs that rotate and revoke a key. Only a valid key can be rotated.
#[component]
pub fn EndDialogs(
    /// The key.
    api_key: ApiKey,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let id = api_key.id.to_string();
    let rotate = Outcome::about::<RotateKey>(&id);
    let revoke = Outcome::about::<RevokeKey>(&id);
    let used = api_key.last_used_at.filter(|at| now - *at < IN_USE);
    let rotate = api_key.state(now).is_good().then(|| {
        view! {
            <DialogForm
                outcome=rotate
                id=rotate_dialog(api_key.id)
                title=format!("Rotate “{}”", api_key.name)
                action="Rotate key"
            >
                <p>
                    "Creates a new key with the same name, scopes, addresses, templates and credit limit. The old key works until the time below, so that you can switch without downtime."
                </p>
                <Select
                    name=Field::Overlap.into_str()
                    id=rotate.id(Field::Overlap)
                    label="Old key stops"
                    options=OVERLAPS
                    chosen=rotate.typed_or(Field::Overlap, "24")
                    focus=true
                />
            </DialogForm>
        }
    });
    view! {
        {rotate}
        <DialogForm
            outcome=revoke
            id=revoke_dialog(api_key.id)
            title=format!("Revoke “{}”", api_key.name)
            weight=Weight::Danger
            action="Revoke key"
        >
            <p>
                "Requests with this key fail at once with 401 " <code>"invalid_token"</code>
                ". This cannot be undone."
            </p>
            {used
                .map(|at| {
                    view! {
                        <WarningNotice>"This key is in use. Last request: " <Ago at now /> "."</WarningNotice>
                    }
                })}
            <FormField outcome=revoke field=Field::Confirmation label="Type the name to confirm" focus=true />
        </DialogForm>
    }
}
