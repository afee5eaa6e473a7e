//! Hands new recovery codes to the page that shows them. The codes are stored encrypted in the session of the user who
//! created them, and removed once they are read.

use platen_domain::{
    encryption::{Place, Wrapped},
    ids::UserId,
    second_factor::RecoveryCode,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;

use crate::service::people::{People, PeopleError};

/// Key in the session's data.
const NEW_CODES: &str = "recovery_codes";
/// Time within which the codes are shown. A browser follows a redirect at once; a later visit may be another person, or
/// a return to the page.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

#[derive(Serialize, Deserialize)]
struct Waiting {
    wrapped: Wrapped,
    #[serde(with = "time::serde::rfc3339")]
    until: OffsetDateTime,
}

/// Stores codes in the session for the next page, and replaces earlier ones.
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

/// Removes the stored codes from the session and returns them. Returns `None` if there are none or they were stored
/// more than five minutes ago.
pub async fn take(
    people: &People,
    session: &Session,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<Vec<SecretString>>, PeopleError> {
    let Some(waiting) = session.remove_value(NEW_CODES).await? else {
        return Ok(None);
    };
    // Another release may have stored them in a form that this one can't read; then they aren't shown.
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
