//! Panels for a storage connection and for the default storage.

use leptos::prelude::*;
use platen_domain::{
    connection::{Connection, ConnectionTest},
    destination::Provider,
};
use time::OffsetDateTime;

use crate::{
    model::{connection::ConnectionState, rejection::Field},
    outcome::{DialogForm, FormField, Outcome, RowButton},
    pages::connections::{
        api::{DeleteConnection, TestConnection},
        edit::{edit_dialog, rotate_dialog},
        test_result::TestResult,
    },
    ui::{
        badge::{Badge, State},
        button::FootButton,
        dialog::Weight,
        moment::Day,
    },
};

fn delete_dialog(connection: &Connection) -> String {
    format!("delete-{}", connection.id)
}

/// Details of a connection, and the result of its last test.
#[component]
pub fn ConnectionPanel(
    /// The connection.
    connection: Connection,
    /// Its last test.
    last_test: Option<ConnectionTest>,
    /// Whether a notice on the page explains the failed steps of the last test.
    is_explained: bool,
    /// Id of the account, which is the external id of connections that assume a role.
    account: String,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let test = Outcome::about::<TestConnection>(&connection.id.to_string());
    let state = ConnectionState::of(last_test.as_ref());
    let name = connection.settings.name.clone();
    let again = if state == ConnectionState::Untested {
        "Test connection"
    } else {
        "Test again"
    };
    let external_id = connection.in_role().then(|| {
        view! {
            <dt>"External id"</dt>
            <dd>
                <code>{account}</code>
            </dd>
        }
    });
    view! {
        <article class="panel">
            <div class="panel__head">
                <h2>{name.clone()}</h2>
                {badge(state)}
            </div>
            <div class="panel__body">
                <dl class="pairs">
                    <dt>"Provider"</dt>
                    <dd>{provider(&connection)}</dd>
                    <dt>"Covers"</dt>
                    <dd>
                        <code>{connection.covers()}</code>
                    </dd>
                    <dt>"Access"</dt>
                    <dd>{access(&connection)} " " <code>{connection.identity.clone()}</code></dd>
                    {external_id}
                    <dt>"Created"</dt>
                    <dd>
                        <Day at=connection.inserted_at />
                    </dd>
                </dl>
                {last_test
                    .map(|test| {
                        view! { <TestResult test provider=connection.settings.provider is_explained now /> }
                    })}
            </div>
            <div class="panel__foot">
                <RowButton outcome=test words=again of=format!(" {name}") />
                <FootButton dialog=edit_dialog(&connection) words="Edit" of=format!(" {name}") />
                <FootButton dialog=rotate_dialog(&connection) words="Rotate credentials" of=format!(" of {name}") />
                <FootButton dialog=delete_dialog(&connection) words="Delete" of=format!(" {name}") />
            </div>
        </article>
    }
}

fn badge(state: ConnectionState) -> impl IntoView {
    let (glyph, words) = match state {
        ConnectionState::Untested => (State::Open, "Not tested"),
        ConnectionState::Working => (State::Good, "Working"),
        ConnectionState::Delivers => (State::Warning, "Delivers"),
        ConnectionState::Refused => (State::Bad, "Refused"),
    };
    view! { <Badge state=glyph>{words}</Badge> }
}

fn provider(connection: &Connection) -> String {
    let settings = &connection.settings;
    let store = match (&settings.endpoint, settings.provider) {
        (Some(endpoint), _) => format!("S3 at {}", endpoint.origin().ascii_serialization()),
        (None, Provider::AwsS3) => "Amazon S3".to_owned(),
        (None, Provider::GoogleCloudStorage) => "Google Cloud Storage".to_owned(),
    };
    match &settings.region {
        Some(region) => format!("{store}, {region}"),
        None => store,
    }
}

fn access(connection: &Connection) -> &'static str {
    match connection.settings.provider {
        Provider::AwsS3 if connection.in_role() => "role",
        Provider::AwsS3 => "access key",
        Provider::GoogleCloudStorage => "service account",
    }
}

/// The dialog that deletes a connection.
#[component]
pub fn DeleteDialog(
    /// The connection.
    connection: Connection,
) -> impl IntoView {
    let outcome = Outcome::about::<DeleteConnection>(&connection.id.to_string());
    view! {
        <DialogForm
            outcome=outcome
            id=delete_dialog(&connection)
            title=format!("Delete “{}”", connection.settings.name)
            weight=Weight::Danger
            action="Delete connection"
        >
            <p>
                "Unfinished renders that use this connection fail, and its credentials are deleted. Files in the bucket stay. This can’t be undone."
            </p>
            <FormField outcome=outcome field=Field::Confirmation label="Type the name to confirm" focus=true />
        </DialogForm>
    }
}

/// The default storage, which receives documents of renders without a destination.
#[component]
pub fn DefaultStoragePanel() -> impl IntoView {
    view! {
        <article class="panel">
            <div class="panel__head">
                <h2>"Default storage"</h2>
                <Badge state=State::Good>"Available"</Badge>
            </div>
            <div class="panel__body">
                <dl class="pairs">
                    <dt>"Provider"</dt>
                    <dd>"Platen"</dd>
                    <dt>"Covers"</dt>
                    <dd>
                        <code>"renders/<uuid>.pdf"</code>
                    </dd>
                    <dt>"Access"</dt>
                    <dd>"public, at an unlisted address"</dd>
                    <dt>"Retention"</dt>
                    <dd>"14 days"</dd>
                </dl>
            </div>
            <div class="panel__foot">
                <span class="quiet">"Used for requests without a destination."</span>
            </div>
        </article>
    }
}
