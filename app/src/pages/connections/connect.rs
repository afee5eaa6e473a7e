//! The form that creates a connection. The style sheet hides the fields that the selected options don't need.

use leptos::prelude::*;

use crate::{
    model::{
        connection::{ACCESS_KEY, AMAZON, GOOGLE, IMPERSONATION, KEY_FILE, ROLE},
        rejection::Field,
    },
    outcome::{DialogForm, FormField, Outcome},
    pages::connections::api::ConnectBucket,
    ui::{field::Face, notice::InfoNotice, radio::Radio, segmented::Segmented, text_area::TextArea},
};

/// Hint for secrets.
const KEPT: &str = "Kept encrypted, never shown again.";

/// The dialog that creates a connection.
#[component]
pub fn ConnectDialog(
    /// Id of the account: the external id at Amazon, and the content of `platen-account` at Google.
    account: String,
    /// Whether the service can assume roles at Amazon.
    roles: bool,
    /// Whether the service can impersonate service accounts, without their key.
    impersonation: bool,
) -> impl IntoView {
    let outcome = Outcome::of::<ConnectBucket>();
    let refused = outcome.error().is_some();
    view! {
        <DialogForm outcome=outcome id="connect" title="Connect a bucket" action="Connect and test">
            {refused
                .then(|| {
                    view! {
                        <InfoNotice>"We keep no secret of a form that is refused. Type it again."</InfoNotice>
                    }
                })}
            <Segmented
                name=Field::Provider.into_str()
                legend="Provider"
                options=vec![(AMAZON, "Amazon S3"), (GOOGLE, "Google Cloud Storage")]
                chosen=outcome.typed_or(Field::Provider, AMAZON)
            />
            <FormField outcome=outcome field=Field::ConnectionName label="Name" focus=true />
            <div class="fields fields--2">
                <FormField outcome=outcome field=Field::Bucket label="Bucket" face=Face::Code />
                <FormField
                    outcome=outcome
                    field=Field::PathPrefix
                    label="Only under this prefix"
                    optional=true
                    face=Face::Code
                />
            </div>
            <Amazon outcome roles account=account.clone() />
            <Google outcome impersonation account />
        </DialogForm>
    }
}

/// Fields of S3-compatible stores.
#[component]
fn Amazon(outcome: Outcome, roles: bool, account: String) -> impl IntoView {
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
                    "Its trust policy has to let this service in with the external id " <code class="break">{account}</code>
                    ", and its permissions have to allow s3:PutObject on the bucket."
                </p>
            </div>
        }
    });
    let choice = roles.then(|| {
        let ways = [
            (ROLE, "Assume a role", "Recommended. No secret leaves your account."),
            (ACCESS_KEY, "Access key", KEPT),
        ];
        view! { <Access field=Field::AmazonAccess ways chosen /> }
    });
    view! {
        <div class="connect__amazon fields">
            <div class="fields fields--2">
                <FormField
                    outcome=outcome
                    field=Field::Region
                    label="Region"
                    hint="As eu-central-1. Amazon needs it."
                    maybe_hidden=true
                    face=Face::Code
                />
                <FormField
                    outcome=outcome
                    field=Field::Endpoint
                    label="Endpoint"
                    hint="Of a store that is not Amazon’s."
                    optional=true
                    face=Face::Code
                />
            </div>
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
                    hint=KEPT
                    kind="password"
                    autocomplete="new-password"
                    maybe_hidden=true
                    face=Face::Code
                />
            </div>
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

/// Fields of Google Cloud Storage.
#[component]
fn Google(outcome: Outcome, impersonation: bool, account: String) -> impl IntoView {
    let first = if impersonation { IMPERSONATION } else { KEY_FILE };
    let chosen = outcome.typed_or(Field::GoogleAccess, first);
    let choice = impersonation.then(|| {
        let ways = [
            (
                IMPERSONATION,
                "Act as a service account",
                "Recommended. No secret leaves your project.",
            ),
            (KEY_FILE, "Key file", KEPT),
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
                    "Two things show that it is yours. This service needs the role Service Account Token Creator on it. And the bucket needs an object named "
                    <code>"platen-account"</code> ", under the prefix, that holds "
                    <code class="break">{account}</code> ": your account here."
                </p>
            </div>
        }
    });
    view! {
        <div class="connect__google fields">
            {choice} {by_impersonation} <div class="connect__key-file">
                <TextArea
                    name=Field::KeyFile.into_str()
                    label="Key file of a service account"
                    hint="The JSON that Google has made, with a role such as Storage Object User on the bucket. Kept encrypted, never shown again."
                    problem=outcome.problem(Field::KeyFile)
                    maybe_hidden=true
                />
            </div>
        </div>
    }
}
