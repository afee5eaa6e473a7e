//! Forms that were refused because their user had to confirm their identity first. They are stored encrypted in the
//! user's session, and taken to be submitted again once the user has done so.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_domain::{
    encryption::{Place, Wrapped},
    ids::UserId,
};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::Session;
use uuid::Uuid;

use crate::service::{
    people::{People, PeopleError},
    sessions::short_lived,
};

/// Maximum size of a form, in bytes: each request of the session reads it. Larger ones have to be submitted again.
pub const LONGEST_FORM: usize = 16 << 10;
/// Key in the session's data.
const REFUSED_FORM: &str = "refused_form";
/// Time within which the user has to confirm their identity.
const RESUMED_WITHIN: Duration = Duration::minutes(10);

/// A refused form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedForm {
    /// Path of the form's function.
    pub function: String,
    /// Address of the form's page.
    pub page: String,
    /// The form as the browser sent it.
    pub form: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    id: Uuid,
    secret_key_id: String,
    /// In base64.
    sealed: String,
}

/// Stores a form in the session, and replaces an earlier one. Returns its id, which only the page has that confirms the
/// user's identity for this form: another holder of the session can't exchange the form meanwhile.
pub async fn keep(
    people: &People,
    session: &Session,
    user: UserId,
    refused: &RefusedForm,
    now: OffsetDateTime,
) -> Result<Uuid, PeopleError> {
    let id = Uuid::new_v4();
    let content = serde_json::to_vec(refused).unwrap_or_default();
    let place = Place::refused_form(user, id);
    let Wrapped { secret_key_id, sealed } = people.secret_keys.current.wrap(&place, rand::random(), content)?;
    let stored = Stored {
        id,
        secret_key_id,
        sealed: BASE64_STANDARD.encode(sealed),
    };
    short_lived::keep(session, REFUSED_FORM, stored, now + RESUMED_WITHIN).await?;
    Ok(id)
}

/// Removes the stored form from the session and returns it. Returns `None` if there is none, if it has another id, or if
/// it was stored more than ten minutes ago.
pub async fn take(
    people: &People,
    session: &Session,
    user: UserId,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<Option<RefusedForm>, PeopleError> {
    let stored: Option<Stored> = short_lived::take(session, REFUSED_FORM, now).await?;
    let Some(stored) = stored.filter(|stored| stored.id == id) else {
        return Ok(None);
    };
    let Ok(sealed) = BASE64_STANDARD.decode(stored.sealed) else {
        return Ok(None);
    };
    let wrapped = Wrapped {
        secret_key_id: stored.secret_key_id,
        sealed,
    };
    let opened = people.secret_keys.unwrap(&Place::refused_form(user, id), wrapped)?;
    Ok(serde_json::from_slice(opened.expose_secret()).ok())
}
