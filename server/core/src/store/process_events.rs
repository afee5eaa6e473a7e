//! Events that processes send each other with `NOTIFY`.

use std::time::Duration;

use platen_domain::{
    ids::{AccountId, InstanceId, RenderId},
    job::JobKind,
};
use sqlx::{PgPool, postgres::PgListener};
use tokio::time::timeout;

use crate::store::{
    error::StoreError,
    pool::ping,
    statement::{bounded, execute},
};

/// An event that processes send each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEvent {
    /// Jobs of this kind were added.
    Added {
        kind: JobKind,
        /// The process that added them; nil for an earlier release.
        by: InstanceId,
    },
    /// A render was cancelled.
    Cancelled(RenderId),
    /// Renders have changed.
    Changed(ChangedRenders),
    /// Pages of this account are open.
    Listening(AccountId),
}

/// Changed renders of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRenders {
    pub account: AccountId,
    /// `None` if there are too many to name.
    pub renders: Option<Vec<RenderId>>,
}

impl ChangedRenders {
    /// Notifications are limited to 8,000 bytes. The sender limits the number of renders accordingly.
    fn to_payload(&self) -> String {
        let renders = self.renders.iter().flatten().map(ToString::to_string);
        let words: Vec<_> = std::iter::once(self.account.to_string()).chain(renders).collect();
        words.join(" ")
    }

    fn from_payload(payload: &str) -> Option<Self> {
        let (account, renders) = payload.split_once(' ').map_or((payload, None), |(account, renders)| {
            (account, Some(renders.split(' ').filter_map(RenderId::parse).collect()))
        });
        Some(Self {
            account: AccountId::parse(account)?,
            renders,
        })
    }
}

const ADDED: &str = "platen_jobs_added";
const CANCELLED: &str = "platen_renders_cancelled";
const CHANGED: &str = "platen_renders_changed";
const LISTENING: &str = "platen_pages_open";

/// Notifies all listening processes of several events, in one statement.
pub async fn notify(db: &PgPool, events: impl IntoIterator<Item = ProcessEvent>) -> Result<(), StoreError> {
    let notifications = events.into_iter().map(|event| match event {
        ProcessEvent::Added { kind, by } => (ADDED.to_owned(), format!("{} {}", kind.into_str(), by.0)),
        ProcessEvent::Cancelled(render) => (CANCELLED.to_owned(), render.to_string()),
        ProcessEvent::Changed(changed) => (CHANGED.to_owned(), changed.to_payload()),
        ProcessEvent::Listening(account) => (LISTENING.to_owned(), account.to_string()),
    });
    let (channels, payloads): (Vec<String>, Vec<String>) = notifications.unzip();
    let statement = sqlx::query!(
        "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as told (channel, payload)",
        &channels,
        &payloads,
    );
    bounded(execute(db, statement)).await
}

/// After this time without an event, the connection is tested: a network may have dropped it without a word.
const QUIET: Duration = Duration::from_secs(30);

/// Receives the events of all processes.
pub struct Listener(PgListener);

impl Listener {
    /// Starts listening, on a connection of its own.
    pub async fn begin(db: &PgPool) -> Result<Self, StoreError> {
        bounded(async {
            let mut listener = PgListener::connect_with(db).await?;
            // A loss must be noticed.
            listener.eager_reconnect(false);
            listener.listen_all([ADDED, CANCELLED, CHANGED, LISTENING]).await?;
            Ok(Self(listener))
        })
        .await
    }

    /// Waits for the next event. Fails if the connection is lost, because events may have been missed.
    pub async fn next(&mut self) -> Result<ProcessEvent, StoreError> {
        loop {
            let Ok(received) = timeout(QUIET, self.0.try_recv()).await else {
                bounded(ping(&mut self.0)).await?;
                continue;
            };
            let received = received?.ok_or_else(StoreError::late)?;
            let event = match received.channel() {
                ADDED => added(received.payload()),
                CHANGED => ChangedRenders::from_payload(received.payload()).map(ProcessEvent::Changed),
                LISTENING => AccountId::parse(received.payload()).map(ProcessEvent::Listening),
                _ => received.payload().parse().ok().map(ProcessEvent::Cancelled),
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }
}

fn added(payload: &str) -> Option<ProcessEvent> {
    let (kind, by) = payload.split_once(' ').unwrap_or((payload, ""));
    Some(ProcessEvent::Added {
        kind: kind.parse().ok()?,
        by: InstanceId(by.parse().unwrap_or_default()),
    })
}
