//! Values that a session stores for a short time.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use time::OffsetDateTime;
use tower_sessions::{Session, session};

#[derive(Serialize, Deserialize)]
struct ShortLived<T> {
    #[serde(flatten)]
    value: T,
    #[serde(with = "time::serde::rfc3339")]
    until: OffsetDateTime,
}

/// Stores a value under a key of the session's data, and replaces an earlier one.
pub(in crate::service) async fn keep<T: Serialize>(
    session: &Session,
    key: &str,
    value: T,
    until: OffsetDateTime,
) -> Result<(), session::Error> {
    session.insert(key, ShortLived { value, until }).await
}

/// Removes a value from the session and returns it. Returns `None` if there is none, it has expired, or another release
/// stored it in a form that this one can't read.
pub(in crate::service) async fn take<T: DeserializeOwned>(
    session: &Session,
    key: &str,
    now: OffsetDateTime,
) -> Result<Option<T>, session::Error> {
    // Removing an absent value would write the session, over what other requests have stored meanwhile.
    match session.get_value(key).await? {
        Some(_) => Ok(read(session.remove_value(key).await?, now)),
        None => Ok(None),
    }
}

/// As [`take`], but leaves a valid value that is not `wanted` in the session.
pub(in crate::service) async fn take_if<T: DeserializeOwned>(
    session: &Session,
    key: &str,
    wanted: impl Fn(&T) -> bool,
    now: OffsetDateTime,
) -> Result<Option<T>, session::Error> {
    match find(session, key, now).await? {
        Some(value) if !wanted(&value) => Ok(None),
        _ => take(session, key, now).await,
    }
}

/// As [`take`], but leaves the value in the session.
pub(in crate::service) async fn find<T: DeserializeOwned>(
    session: &Session,
    key: &str,
    now: OffsetDateTime,
) -> Result<Option<T>, session::Error> {
    Ok(read(session.get_value(key).await?, now))
}

fn read<T: DeserializeOwned>(stored: Option<Value>, now: OffsetDateTime) -> Option<T> {
    let stored: ShortLived<T> = serde_json::from_value(stored?).ok()?;
    (now < stored.until).then_some(stored.value)
}
