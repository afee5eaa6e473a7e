//! Fields for the credentials of a connection. The style sheet hides the fields that the selected options don't need.

use leptos::prelude::*;

use crate::{
    model::{
        connection::{ACCESS_KEY, IMPERSONATION, KEY_FILE, ROLE},
        rejection::Field,
    },
    outcome::{FormField, Outcome},
    ui::{field::Face, notice::InfoNotice, radio::Radio, text_area::TextArea},
};

/// Hint for secrets.
const STORED: &str = "Stored encrypted and never shown again.";

/// Asks for the secrets again, which a rejected form has lost.
#[component]
pub fn SecretsNotice(outcome: Outcome) -> impl IntoView {
    outcome.error().map(|_| {
        view! { <InfoNotice>"Secrets of a rejected form are not stored. Enter them again."</InfoNotice> }
    })
}

/// Credentials for S3-compatible stores.
#[component]
pub fn AmazonAccess(
    /// Result of the last submission.
    outcome: Outcome,
    /// Whether the service can assume roles.
    roles: bool,
    /// Id of the account, which is the external id.
    account: String,
) -> impl IntoView {
    let chosen = outcome.typed_or(Field::AmazonAccess, if roles { ROLE } else { ACCESS_KEY });
    let by_role = roles.then(|| {
        view! {
            <div class="connect__role fields">
                <FormField
                    outcome=outcome
                    field=Field::RoleArn
                    label="Role"
                    maybe_hidden=true
                    face=Face::Code
                />
                <p class="field__hint">
                    "Its trust policy must admit this service with the external id " <code class="break">{account}</code>
                    ", and its permissions must allow s3:PutObject on the bucket."
                </p>
            </div>
        }
    });
    let choice = roles.then(|| {
        let ways = [
            (ROLE, "Assume a role", "Recommended. No secret leaves your account."),
            (ACCESS_KEY, "Access key", STORED),
        ];
        view! { <Access field=Field::AmazonAccess ways chosen /> }
    });
    view! {
        {choice}
        {by_role}
        <div class="connect__access-key fields">
            <FormField
                outcome=outcome
                field=Field::AccessKeyId
                label="Access key id"
                maybe_hidden=true
                face=Face::Code
            />
            <FormField
                outcome=outcome
                field=Field::SecretAccessKey
                label="Secret access key"
                hint=STORED
                kind="password"
                autocomplete="new-password"
                maybe_hidden=true
                face=Face::Code
            />
        </div>
    }
}

/// Credentials for Google Cloud Storage.
#[component]
pub fn GoogleAccess(
    /// Result of the last submission.
    outcome: Outcome,
    /// Whether the service can impersonate service accounts, without their key.
    impersonation: bool,
    /// Id of the account, which the bucket must contain.
    account: String,
) -> impl IntoView {
    let first = if impersonation { IMPERSONATION } else { KEY_FILE };
    let chosen = outcome.typed_or(Field::GoogleAccess, first);
    let choice = impersonation.then(|| {
        let ways = [
            (
                IMPERSONATION,
                "Act as a service account",
                "Recommended. No secret leaves your project.",
            ),
            (KEY_FILE, "Key file", STORED),
        ];
        view! { <Access field=Field::GoogleAccess ways chosen /> }
    });
    let by_impersonation = impersonation.then(|| {
        view! {
            <div class="connect__impersonation fields">
                <FormField
                    outcome=outcome
                    field=Field::ClientEmail
                    label="Service account"
                    maybe_hidden=true
                    face=Face::Code
                />
                <p class="field__hint">
                    "Grant this service the role Service Account Token Creator on it. To prove that you own the bucket, create an object "
                    <code>"platen-account"</code> " under the prefix that contains " <code class="break">{account}</code>
                    ", the id of your account."
                </p>
            </div>
        }
    });
    view! {
        {choice}
        {by_impersonation}
        <div class="connect__key-file">
            <TextArea
                face=Face::Code
                name=Field::KeyFile.into_str()
                id=outcome.id(Field::KeyFile)
                label="Key file of a service account"
                hint="The JSON file from Google, of an account with the role Storage Object User on the bucket. Stored encrypted and never shown again."
                problem=outcome.problem(Field::KeyFile)
                maybe_hidden=true
            />
        </div>
    }
}

/// Selection of the kind of access. `ways` contains the value, label and hint of each.
#[component]
fn Access(field: Field, ways: [(&'static str, &'static str, &'static str); 2], chosen: String) -> impl IntoView {
    let ways = ways.map(|(value, label, hint)| {
        view! { <Radio name=field.into_str() value label hint checked=chosen == value /> }
    });
    view! {
        <fieldset class="fieldset">
            <legend class="fieldset__legend">"Access"</legend>
            {ways.into_iter().collect_view()}
        </fieldset>
    }
}
