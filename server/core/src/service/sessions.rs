//! Login sessions of browsers. The cookie contains 128 random bits; the database stores a digest of them.
//!
//! A session ends after 14 days without use (30 if the user stays logged in), after 90 days in any case, when it is
//! ended, and when its user's password changes.

pub(super) mod short_lived;
pub mod waiting;

use std::net::IpAddr;

use async_trait::async_trait;
use platen_domain::{
    client::{Client, ListedSession},
    ids::{AccountId, SessionId, UserId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tower_sessions::{
    Expiry, Session, SessionStore,
    session::{self, Id, Record},
    session_store,
};

use crate::{
    clock,
    store::{
        error::StoreError,
        sessions::{self, Holder, SessionDigest, StoredSession},
    },
};

/// Key in the session's data for the logged-in user.
const PERSON: &str = "person";
/// Key in the session's data for the account that the user has chosen.
const ACCOUNT: &str = "account";
/// Interval at which the time of last use is stored, and its maximum delay.
const TOUCH_AFTER: Duration = Duration::minutes(5);
/// Time for which a session remains confirmed.
const CONFIRMED: Duration = Duration::minutes(10);
/// Time without use after which a session ends, for users who stay logged in.
const LONG_INACTIVITY: Duration = Duration::days(30);

/// Lifetime of the session of a visitor who is not logged in, which stores the address of a mail.
pub(super) const OF_VISITOR: Duration = Duration::hours(1);

/// Lifetime of a session in the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stay {
    /// Until the browser is closed.
    WhileOpen,
    /// Beyond closing the browser.
    LoggedIn,
}

/// A logged-in user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedIn {
    pub user: UserId,
    epoch: i32,
    stay: Stay,
    address: IpAddr,
    user_agent: String,
    #[serde(with = "time::serde::rfc3339")]
    since: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    seen: OffsetDateTime,
    /// Time of the last confirmation by password or second factor; `None` in sessions of earlier releases.
    #[serde(default, with = "time::serde::rfc3339::option")]
    confirmed: Option<OffsetDateTime>,
    /// Impersonation by an operator.
    #[serde(default)]
    look: Option<Impersonation>,
}

/// An operator's impersonation of an account's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impersonation {
    pub account: AccountId,
    /// End of the impersonation.
    #[serde(with = "time::serde::rfc3339")]
    pub until: OffsetDateTime,
}

impl LoggedIn {
    /// Returns whether the user confirmed their identity by password or second factor within the last ten minutes.
    /// Required for actions that a stolen session must not allow.
    pub fn is_confirmed(&self, now: OffsetDateTime) -> bool {
        self.confirmed.is_some_and(|confirmed| now - confirmed < CONFIRMED)
    }

    /// Returns the current impersonation. All requests are then for that account and read-only.
    pub fn look(&self, now: OffsetDateTime) -> Option<Impersonation> {
        self.look.filter(|look| now < look.until)
    }
}

/// Returns the logged-in user of a session, and stores the time of use every five minutes.
pub async fn current(session: &Session, now: OffsetDateTime) -> Result<Option<LoggedIn>, session::Error> {
    // Saves the lookup of a session that doesn't exist.
    if session.id().is_none() {
        return Ok(None);
    }
    let Some(mut person) = person(session).await? else {
        return Ok(None);
    };
    if now - person.seen >= TOUCH_AFTER {
        person.seen = now;
        session.insert(PERSON, &person).await?;
    }
    Ok(Some(person))
}

/// Reads the logged-in user of a session from the database, for connections that outlive one response.
pub async fn reload(db: &PgPool, session: &Session, now: OffsetDateTime) -> Result<Option<LoggedIn>, StoreError> {
    let Some(id) = session.id() else {
        return Ok(None);
    };
    let stored = sessions::find(db, digest(id), now).await?;
    Ok(stored.and_then(|mut stored| serde_json::from_value(stored.data.get_mut(PERSON)?.take()).ok()))
}

/// Returns the logged-in user, or `None` if another release stored them in a form that this one can't read.
async fn person(session: &Session) -> Result<Option<LoggedIn>, session::Error> {
    let value = session.get_value(PERSON).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// Sets the expiry of a changed session, and returns its user. Must be called before the session is saved.
pub async fn extend(session: &Session) -> Result<Option<UserId>, session::Error> {
    let person = person(session).await?;
    let expiry = match (&person, waiting::find(session).await?) {
        (None, Some(waiting)) => Expiry::AtDateTime(waiting.until),
        (Some(person), _) if person.stay == Stay::LoggedIn => Expiry::OnInactivity(LONG_INACTIVITY),
        // The browser drops the cookie when it is closed; the database stores the session for two weeks.
        (Some(_), _) => Expiry::OnSessionEnd,
        (None, None) => Expiry::OnInactivity(OF_VISITOR),
    };
    session.set_expiry(Some(expiry));
    Ok(person.map(|person| person.user))
}

/// Logs a user in. Clears the session and changes its id, because others may know the previous one.
pub(super) async fn begin(
    session: &Session,
    holder: Holder,
    client: &Client,
    stay: Stay,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    session.clear().await;
    session.cycle_id().await?;
    let person = LoggedIn {
        user: holder.user,
        epoch: holder.epoch,
        stay,
        address: client.address,
        user_agent: client.user_agent.clone(),
        since: now,
        seen: now,
        confirmed: Some(now),
        look: None,
    };
    session.insert(PERSON, person).await
}

/// As [`begin`], for a user who is already logged in. Preserves the chosen account and the lifetime in the browser.
pub(super) async fn renew(
    session: &Session,
    holder: Holder,
    client: &Client,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    let stay = person(session).await?.map_or(Stay::WhileOpen, |person| person.stay);
    let account = chosen_account(session).await?;
    begin(session, holder, client, stay, now).await?;
    match account {
        Some(account) => choose_account(session, account).await,
        None => Ok(()),
    }
}

/// Returns the account that the session's user has chosen, if any, without checking their membership.
pub async fn chosen_account(session: &Session) -> Result<Option<AccountId>, session::Error> {
    let value = session.get_value(ACCOUNT).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// Chooses the account for which the session's user acts.
pub(crate) async fn choose_account(session: &Session, account: AccountId) -> Result<(), session::Error> {
    session.insert(ACCOUNT, account).await
}

/// As [`choose_account`], but changes the session's id, so that forms on open pages of another account are refused
/// instead of acting for this one.
pub(super) async fn switch_account(session: &Session, account: AccountId) -> Result<(), session::Error> {
    session.cycle_id().await?;
    choose_account(session, account).await
}

/// Begins an impersonation in a session, or ends it with `None`. Changes the session's id, so that forms on open pages
/// are refused instead of acting for another account.
pub(super) async fn look(session: &Session, look: Option<Impersonation>) -> Result<(), session::Error> {
    let Some(mut person) = person(session).await? else {
        return Ok(());
    };
    person.look = look;
    session.cycle_id().await?;
    session.insert(PERSON, person).await
}

/// Records that the logged-in user has confirmed their identity.
pub(super) async fn confirm(session: &Session, now: OffsetDateTime) -> Result<(), session::Error> {
    let Some(mut person) = person(session).await? else {
        return Ok(());
    };
    person.confirmed = Some(now);
    session.insert(PERSON, person).await
}

/// Logs out in this browser.
pub async fn log_out(session: &Session) -> Result<(), session::Error> {
    match session.id() {
        Some(_) => session.flush().await,
        None => Ok(()),
    }
}

/// Returns a user's sessions, the latest first. `current` is the session of the request.
pub async fn list(
    db: &PgPool,
    user: UserId,
    current: &Session,
    now: OffsetDateTime,
) -> Result<Vec<ListedSession>, StoreError> {
    let listed = sessions::list(db, user, current.id().map(digest), now).await?;
    let shown = listed.into_iter().filter_map(|mut listed| {
        let person: LoggedIn = serde_json::from_value(listed.data.get_mut(PERSON)?.take()).ok()?;
        Some(ListedSession {
            id: listed.id,
            current: listed.current,
            address: person.address,
            user_agent: person.user_agent,
            since: person.since,
            seen: person.seen,
        })
    });
    Ok(shown.collect())
}

/// Ends one of a user's sessions. Returns `false` if they have no such session.
pub(super) async fn end(db: &mut PgConnection, user: UserId, id: SessionId) -> Result<bool, StoreError> {
    sessions::delete_of_user(db, user, id).await
}

/// Ends all sessions of a user except the current one.
pub(super) async fn end_all_others(db: &mut PgConnection, user: UserId, current: &Session) -> Result<(), StoreError> {
    sessions::delete_others(db, user, current.id().map(digest)).await
}

/// Stores sessions in Postgres.
#[derive(Debug, Clone)]
pub struct PostgresSessions(pub PgPool);

fn digest(id: Id) -> SessionDigest {
    SessionDigest(Sha256::digest(id.0.to_le_bytes()).into())
}

#[async_trait]
impl SessionStore for PostgresSessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let stored = to_stored(record)?;
        let person = record.data.get(PERSON).map(|person| {
            let person: LoggedIn = serde_json::from_value(person.clone()).map_err(decode)?;
            Ok(person)
        });
        let person = person.transpose()?;
        let holder = person.as_ref().map(|person| Holder {
            user: person.user,
            epoch: person.epoch,
        });
        // A new id doesn't extend the maximum lifetime of a session.
        let began = person.map_or_else(clock::now, |person| person.since);
        while !sessions::insert(&self.0, digest(record.id), holder, &stored, began)
            .await
            .map_err(backend)?
        {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let stored = to_stored(record)?;
        sessions::update(&self.0, digest(record.id), &stored)
            .await
            .map_err(backend)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let found = sessions::find(&self.0, digest(*id), clock::now())
            .await
            .map_err(backend)?;
        let record = found.map(|stored| {
            Ok(Record {
                id: *id,
                data: serde_json::from_value(stored.data).map_err(decode)?,
                expiry_date: stored.expires_at,
            })
        });
        record.transpose()
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        sessions::delete(&self.0, digest(*id)).await.map_err(backend)
    }
}

fn to_stored(record: &Record) -> session_store::Result<StoredSession> {
    let data: Value =
        serde_json::to_value(&record.data).map_err(|error| session_store::Error::Encode(error.to_string()))?;
    Ok(StoredSession {
        data,
        expires_at: record.expiry_date,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "maps errors")]
fn backend(error: StoreError) -> session_store::Error {
    session_store::Error::Backend(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "maps errors")]
fn decode(error: serde_json::Error) -> session_store::Error {
    session_store::Error::Decode(error.to_string())
}
