//! The form that creates a connection. The style sheet hides the fields that the selected options don't need.

use leptos::prelude::*;

use crate::{
    model::{
        connection::{AMAZON, GOOGLE},
        rejection::Field,
    },
    outcome::{DialogForm, FormField, Outcome},
    pages::connections::{
        access::{AmazonAccess, GoogleAccess, SecretsNotice},
        api::ConnectBucket,
        edit::AddressFields,
    },
    ui::{field::Face, segmented::Segmented},
};

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
    view! {
        <DialogForm outcome=outcome id="connect" title="Connect a bucket" action="Connect and test">
            <SecretsNotice outcome />
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
                    label="Prefix"
                    hint="Limits the connection to object names with this prefix, such as invoices/"
                    optional=true
                    face=Face::Code
                />
            </div>
            <div class="connect__amazon fields">
                <AddressFields outcome />
                <AmazonAccess outcome roles account=account.clone() />
            </div>
            <div class="connect__google fields">
                <GoogleAccess outcome impersonation account />
            </div>
        </DialogForm>
    }
}
