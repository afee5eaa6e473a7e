//! Recovery codes that were just made, on their way to the page that shows them. They wait, sealed, in the session of the
//! person who made them, and are gone from there once they were shown.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::{
    domain::{
        ids::UserId,
        sealing::{Place, Wrapped},
        second_factor::RecoveryCode,
    },
    service::people::{People, PeopleError},
};

/// The member of a session's data that holds them.
const NEW_CODES: &str = "recovery_codes";
/// A browser follows a redirect at once. Whoever comes later is somebody else, or has come back.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

#[derive(Serialize, Deserialize)]
struct Waiting {
    wrapped: Wrapped,
    #[serde(with = "time::serde::rfc3339")]
    until: OffsetDateTime,
}

/// Keeps codes for the next page; those that wait already are forgotten.
pub(super) async fn keep(
    people: &People,
    session: &Session,
    user: UserId,
    codes: &[RecoveryCode],
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let lines: Vec<_> = codes.iter().map(RecoveryCode::expose).collect();
    let (place, content) = (Place::recovery_codes(user), lines.join("\n").into_bytes());
    let waiting = Waiting {
        wrapped: people.secret_keys.current.wrap(&place, rand::random(), content)?,
        until: now + SHOWN_WITHIN,
    };
    Ok(session.insert(NEW_CODES, waiting).await?)
}

/// Takes the codes that wait, if there are any.
pub async fn take(
    people: &People,
    session: &Session,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<Vec<SecretString>>, PeopleError> {
    let Some(waiting) = session.remove_value(NEW_CODES).await? else {
        return Ok(None);
    };
    // What another version of this program wrote, and this one can't read, is not shown.
    let waiting = serde_json::from_value(waiting).ok();
    let Some(waiting) = waiting.filter(|waiting: &Waiting| now < waiting.until) else {
        return Ok(None);
    };
    let opened = people
        .secret_keys
        .unwrap(&Place::recovery_codes(user), waiting.wrapped)?;
    let lines = String::from_utf8_lossy(opened.expose_secret());
    Ok(Some(lines.lines().map(SecretString::from).collect()))
}
