//! Panels for a storage connection and for the default storage.

use leptos::prelude::*;
use platen_domain::{
    connection::{Connection, ConnectionTest, TestAction},
    destination::Provider,
    number::duration,
};
use time::OffsetDateTime;

use crate::{
    model::{connection::ConnectionState, rejection::Field},
    outcome::{DialogForm, FormField, Outcome, RowButton},
    pages::connections::api::{DeleteConnection, TestConnection},
    ui::{
        badge::{Badge, State},
        button::{OpenButton, Rank, Size},
        dialog::Weight,
        moment::{Ago, Day},
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
                    <dt>"Since"</dt>
                    <dd>
                        <Day at=connection.inserted_at />
                    </dd>
                </dl>
                {last_test.map(|test| view! { <TestResult test now /> })}
            </div>
            <div class="panel__foot">
                <RowButton outcome=test words=again of=format!(" {name}") />
                <OpenButton dialog=delete_dialog(&connection) rank=Rank::Quiet size=Size::Small>
                    "Delete"
                    <span class="visually-hidden">{format!(" {name}")}</span>
                </OpenButton>
            </div>
        </article>
    }
}

#[component]
fn TestResult(test: ConnectionTest, now: OffsetDateTime) -> impl IntoView {
    let took = format!("in {}", duration(test.milliseconds.into()));
    let advice = test.steps.iter().filter_map(|step| step.advice.clone());
    let advice: Vec<_> = advice.map(|advice| view! { <li class="break">{advice}</li> }).collect();
    let passed = test.steps.iter().filter(|step| step.advice.is_none());
    let passed: Vec<_> = passed.map(|step| past(step.action)).collect();
    let sentence = match passed.as_slice() {
        [] => "Nothing was written".to_owned(),
        [only] => format!("{only} an object {took}"),
        [first @ .., last] => format!("{} and {last} an object {took}", first.join(", ")),
    };
    view! {
        <div class="tested">
            <p class="quiet small">"Tested " <Ago at=test.tested_at now /> ". " {sentence} "."</p>
            {(!advice.is_empty()).then(|| view! { <ul class="tested__advice">{advice}</ul> })}
        </div>
    }
}

fn past(action: TestAction) -> &'static str {
    match action {
        TestAction::Write => "Wrote",
        TestAction::Read => "read",
        TestAction::Delete => "removed",
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
                "Renders that are still to be delivered through it fail, and we forget its credentials. Files in the bucket stay. This cannot be undone."
            </p>
            <FormField outcome=outcome field=Field::Confirmation label="Type the name to confirm" />
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
                <Badge state=State::Good>"Always there"</Badge>
            </div>
            <div class="panel__body">
                <dl class="pairs">
                    <dt>"Provider"</dt>
                    <dd>"Kept by Platen"</dd>
                    <dt>"Covers"</dt>
                    <dd>
                        <code>"renders/<uuid>.pdf"</code>
                    </dd>
                    <dt>"Access"</dt>
                    <dd>"public address, not listed"</dd>
                    <dt>"Kept"</dt>
                    <dd>"14 days, then deleted"</dd>
                </dl>
            </div>
            <div class="panel__foot">
                <span class="quiet">"Used when a request names no destination."</span>
            </div>
        </article>
    }
}
