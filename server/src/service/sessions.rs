//! Sessions of browsers: who is logged in where. The cookie holds 128 random bits; the database knows a digest of them.
//!
//! A session is over when it was not used for 14 days (30, if the person wants to stay logged in), after 90 days in any
//! case, when it is ended, and when its user's password changes.

pub mod waiting;

use std::net::IpAddr;

use async_trait::async_trait;
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
    domain::{
        client::Client,
        ids::{AccountId, SessionId, UserId},
    },
    store::{
        error::StoreError,
        sessions::{self, Holder, Kept, SessionDigest},
    },
};

/// The member of a session's data that says who is logged in.
const PERSON: &str = "person";
/// The member that says for which of their accounts the person acts.
const ACCOUNT: &str = "account";
/// A session that is used is written down as often as that: when it was last seen is late by so much at most.
const TOUCH_AFTER: Duration = Duration::minutes(5);
/// Whoever has shown who they are is not asked again for so long.
const CONFIRMED: Duration = Duration::minutes(10);
/// Without a visit, for those who want to stay logged in.
const LONG_INACTIVITY: Duration = Duration::days(30);

/// How long a browser is to keep the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stay {
    /// Until it is closed.
    WhileOpen,
    /// Also when it is closed.
    LoggedIn,
}

/// Who is logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedIn {
    /// The user.
    pub user: UserId,
    epoch: i32,
    stay: Stay,
    address: IpAddr,
    user_agent: String,
    #[serde(with = "time::serde::rfc3339")]
    since: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    seen: OffsetDateTime,
    /// When they have shown the last time who they are; what an earlier version of this program wrote does not say.
    #[serde(default, with = "time::serde::rfc3339::option")]
    confirmed: Option<OffsetDateTime>,
    /// Into which account they look, as an operator.
    #[serde(default)]
    look: Option<Look>,
}

/// An operator looks into an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Which one.
    pub account: AccountId,
    /// Until then.
    #[serde(with = "time::serde::rfc3339")]
    pub until: OffsetDateTime,
}

impl LoggedIn {
    /// Whether they have shown only just now who they are, by their password or second factor: what a session that somebody
    /// else has got hold of must not be enough for asks for this.
    pub fn is_confirmed(&self, now: OffsetDateTime) -> bool {
        self.confirmed.is_some_and(|confirmed| now - confirmed < CONFIRMED)
    }

    /// Into which account they look. Everything that they ask for is about that account then, and changes nothing.
    pub fn look(&self, now: OffsetDateTime) -> Option<Look> {
        self.look.filter(|look| now < look.until)
    }
}

/// Who is logged in to a session; notes now and then that it was used.
pub async fn current(session: &Session, now: OffsetDateTime) -> Result<Option<LoggedIn>, session::Error> {
    // Nobody looks for what is not there.
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

/// Who is logged in to a session by now: for those who hold on to it longer than for one answer.
pub async fn reload(db: &PgPool, session: &Session, now: OffsetDateTime) -> Result<Option<LoggedIn>, StoreError> {
    let Some(id) = session.id() else {
        return Ok(None);
    };
    let kept = sessions::find(db, digest(id), now).await?;
    Ok(kept.and_then(|mut kept| serde_json::from_value(kept.data.get_mut(PERSON)?.take()).ok()))
}

/// What another version of this program wrote, and this one can't read, is nobody.
async fn person(session: &Session) -> Result<Option<LoggedIn>, session::Error> {
    let value = session.get_value(PERSON).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// Lets a session that was changed last as long as it should; to be called before it is saved. Says whose it is.
pub async fn extend(session: &Session) -> Result<Option<UserId>, session::Error> {
    let person = person(session).await?;
    let expiry = match (&person, waiting::kept(session).await?) {
        (None, Some(waiting)) => Expiry::AtDateTime(waiting.until),
        (Some(person), _) if person.stay == Stay::LoggedIn => Expiry::OnInactivity(LONG_INACTIVITY),
        // The browser forgets it when it is closed; here it is kept for two weeks.
        _ => Expiry::OnSessionEnd,
    };
    session.set_expiry(Some(expiry));
    Ok(person.map(|person| person.user))
}

/// Logs a user in. Whatever the session was before is gone, its id first of all: somebody else may know it.
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

/// As [`begin`], for a user who is logged in and goes on; the browser keeps the session as long as before.
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

/// The account for which the person of a session acts; `None`: they have not chosen one yet. Whether they belong to it is
/// another question.
pub async fn chosen_account(session: &Session) -> Result<Option<AccountId>, session::Error> {
    let value = session.get_value(ACCOUNT).await?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// Lets the person of a session act for an account from now on.
pub(crate) async fn choose_account(session: &Session, account: AccountId) -> Result<(), session::Error> {
    session.insert(ACCOUNT, account).await
}

/// As [`choose_account`], for a person who may have pages of another account open: the session gets another id, so that
/// their forms are refused rather than do something here that was meant for there.
pub(super) async fn switch_account(session: &Session, account: AccountId) -> Result<(), session::Error> {
    session.cycle_id().await?;
    choose_account(session, account).await
}

/// Lets whoever is logged in look into an account, or, with `None`, into none any more. The session gets another id, so that
/// forms of pages that are open are refused rather than do something elsewhere.
pub(super) async fn look(session: &Session, look: Option<Look>) -> Result<(), session::Error> {
    let Some(mut person) = person(session).await? else {
        return Ok(());
    };
    person.look = look;
    session.cycle_id().await?;
    session.insert(PERSON, person).await
}

/// Notes that whoever is logged in has shown again who they are.
pub(super) async fn confirm(session: &Session, now: OffsetDateTime) -> Result<(), session::Error> {
    let Some(mut person) = person(session).await? else {
        return Ok(());
    };
    person.confirmed = Some(now);
    session.insert(PERSON, person).await
}

/// Logs whoever is logged in out, in this browser.
pub async fn log_out(session: &Session) -> Result<(), session::Error> {
    match session.id() {
        Some(_) => session.flush().await,
        None => Ok(()),
    }
}

/// One of a user's sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// Its name; not what the cookie holds.
    pub id: SessionId,
    /// Whether it is the one that asks.
    pub current: bool,
    /// Where the person logged in from.
    pub address: IpAddr,
    /// With what.
    pub user_agent: String,
    /// When.
    pub since: OffsetDateTime,
    /// When it was last used; late by five minutes at most.
    pub seen: OffsetDateTime,
}

/// A user's sessions, the latest first. `current`: the one that asks.
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

/// Ends one of a user's sessions. `false`: they have no such session.
pub(super) async fn end(db: &mut PgConnection, user: UserId, id: SessionId) -> Result<bool, StoreError> {
    sessions::delete_of_user(db, user, id).await
}

/// Ends all sessions of a user, but for the one that asks.
pub(super) async fn end_all_others(db: &mut PgConnection, user: UserId, current: &Session) -> Result<(), StoreError> {
    sessions::delete_others(db, user, current.id().map(digest)).await
}

/// Keeps sessions in Postgres.
#[derive(Debug, Clone)]
pub struct PostgresSessions(pub PgPool);

fn digest(id: Id) -> SessionDigest {
    SessionDigest(Sha256::digest(id.0.to_le_bytes()).into())
}

#[async_trait]
impl SessionStore for PostgresSessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let kept = kept(record)?;
        let person = record.data.get(PERSON).map(|person| {
            let person: LoggedIn = serde_json::from_value(person.clone()).map_err(decode)?;
            Ok(person)
        });
        let person = person.transpose()?;
        let holder = person.as_ref().map(|person| Holder {
            user: person.user,
            epoch: person.epoch,
        });
        // One that goes on under another id does not last longer for that.
        let began = person.map_or_else(clock::now, |person| person.since);
        while !sessions::insert(&self.0, digest(record.id), holder, &kept, began)
            .await
            .map_err(backend)?
        {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let kept = kept(record)?;
        sessions::update(&self.0, digest(record.id), &kept)
            .await
            .map_err(backend)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let found = sessions::find(&self.0, digest(*id), clock::now())
            .await
            .map_err(backend)?;
        let record = found.map(|kept| {
            Ok(Record {
                id: *id,
                data: serde_json::from_value(kept.data).map_err(decode)?,
                expiry_date: kept.expires_at,
            })
        });
        record.transpose()
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        sessions::delete(&self.0, digest(*id)).await.map_err(backend)
    }
}

fn kept(record: &Record) -> session_store::Result<Kept> {
    let data: Value =
        serde_json::to_value(&record.data).map_err(|error| session_store::Error::Encode(error.to_string()))?;
    Ok(Kept {
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
