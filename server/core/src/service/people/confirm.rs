//! Reauthentication before actions for which a session alone isn't sufficient.

use platen_domain::{client::Client, ids::UserId};
use secrecy::SecretString;
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::service::{
    people::{
        People, PeopleError, log_in,
        second_factor::{self, Shown},
    },
    sessions,
};

/// Confirms the session by the user's password.
pub async fn by_password(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    password: SecretString,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    log_in::prove(people, user, client, password).await?;
    Ok(sessions::confirm(session, now).await?)
}

/// Confirms the session by the user's second factor.
pub async fn by_second_factor(
    people: &People,
    session: &Session,
    user: UserId,
    client: &Client,
    shown: &Shown,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    second_factor::prove(people, session, user, client, shown, now).await?;
    Ok(sessions::confirm(session, now).await?)
}
