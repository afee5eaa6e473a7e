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

use crate::service::{
    people::{People, PeopleError},
    sessions::short_lived,
};

/// Key in the session's data.
const NEW_CODES: &str = "recovery_codes";
/// Time within which the codes are shown. A browser follows a redirect at once; a later visit may be another person, or
/// a return to the page.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

#[derive(Serialize, Deserialize)]
struct NewCodes {
    wrapped: Wrapped,
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
    let wrapped = people.secret_keys.current.wrap(&place, rand::random(), content)?;
    Ok(short_lived::keep(session, NEW_CODES, NewCodes { wrapped }, now + SHOWN_WITHIN).await?)
}

/// Removes the stored codes from the session and returns them. Returns `None` if there are none or they were stored
/// more than five minutes ago.
pub async fn take(
    people: &People,
    session: &Session,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Option<Vec<SecretString>>, PeopleError> {
    let Some(NewCodes { wrapped }) = short_lived::take(session, NEW_CODES, now).await? else {
        return Ok(None);
    };
    let opened = people.secret_keys.unwrap(&Place::recovery_codes(user), wrapped)?;
    let lines = String::from_utf8_lossy(opened.expose_secret());
    Ok(Some(lines.lines().map(SecretString::from).collect()))
}
