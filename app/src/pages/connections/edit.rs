//! The dialogs that change a connection and rotate its credentials.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    connection::{Connection, TestStep},
    destination::Provider,
};

use crate::{
    model::rejection::Field,
    outcome::{DialogForm, FormField, Outcome},
    pages::connections::{
        access::{AmazonAccess, GoogleAccess, SecretsNotice},
        api::{EditConnection, RotateCredentials},
        test_result::FailedSteps,
    },
    ui::field::Face,
};

/// Returns the `id` of the dialog that changes a connection.
pub fn edit_dialog(connection: &Connection) -> String {
    format!("edit-{}", connection.id)
}

/// Returns the `id` of the dialog that rotates the credentials of a connection.
pub fn rotate_dialog(connection: &Connection) -> String {
    format!("rotate-{}", connection.id)
}

/// The dialog that changes the name, region and endpoint of a connection.
#[component]
pub fn EditDialog(
    /// The connection.
    connection: Connection,
) -> impl IntoView {
    let outcome = Outcome::about::<EditConnection>(&connection.id.to_string());
    let id = edit_dialog(&connection);
    let settings = connection.settings;
    let address = (settings.provider == Provider::AwsS3).then(|| {
        let endpoint = settings
            .endpoint
            .map(|endpoint| endpoint.origin().ascii_serialization());
        view! {
            <AddressFields
                outcome
                region=settings.region.unwrap_or_default()
                endpoint=endpoint.unwrap_or_default()
            />
        }
    });
    view! {
        <DialogForm outcome=outcome id title=format!("Edit “{}”", settings.name) action="Save and test">
            <FormField outcome=outcome field=Field::ConnectionName label="Name" value=settings.name focus=true />
            {address}
            <p class="field__hint">
                "Provider, bucket and prefix can’t be changed, because queued renders depend on them. Connect another bucket instead."
            </p>
        </DialogForm>
    }
}

/// The region and endpoint of an S3-compatible store.
#[component]
pub fn AddressFields(
    /// Result of the last submission.
    outcome: Outcome,
    /// Initial value.
    #[prop(optional)]
    region: String,
    /// Initial value.
    #[prop(optional)]
    endpoint: String,
) -> impl IntoView {
    view! {
        <div class="fields fields--2">
            <FormField
                outcome=outcome
                field=Field::Region
                label="Region"
                hint="For example, eu-central-1. Required for Amazon S3."
                value=region
                maybe_hidden=true
                face=Face::Code
            />
            <FormField
                outcome=outcome
                field=Field::Endpoint
                label="Endpoint"
                hint="For stores other than Amazon S3."
                value=endpoint
                optional=true
                face=Face::Code
            />
        </div>
    }
}

/// The dialog that replaces the credentials of a connection.
#[component]
pub fn RotateDialog(
    /// The connection.
    connection: Connection,
    /// Steps of the test that has just rejected other credentials.
    steps: Vec<TestStep>,
    /// Id of the account.
    account: String,
    /// Whether the service can assume roles.
    roles: bool,
    /// Whether the service can impersonate service accounts.
    impersonation: bool,
) -> impl IntoView {
    let outcome = Outcome::about::<RotateCredentials>(&connection.id.to_string());
    let id = rotate_dialog(&connection);
    let provider = connection.settings.provider;
    let access = match provider {
        Provider::AwsS3 => Either::Left(view! { <AmazonAccess outcome roles account /> }),
        Provider::GoogleCloudStorage => Either::Right(view! { <GoogleAccess outcome impersonation account /> }),
    };
    let failed = (outcome.error().is_some() && !steps.is_empty()).then(|| view! { <FailedSteps provider steps /> });
    view! {
        <DialogForm
            outcome=outcome
            id
            title=format!("Rotate credentials of “{}”", connection.settings.name)
            action="Test and rotate"
        >
            {failed}
            <SecretsNotice outcome />
            <p>
                "The credentials of " <code class="break">{connection.identity}</code>
                " stay in use until documents can be written with the new ones. Then revoke them at the store."
            </p>
            {access}
        </DialogForm>
    }
}
