//! Ending a user's other sessions. Their list is in [`sessions`].

use platen_domain::{
    account_log::AccountEvent,
    client::Client,
    ids::{SessionId, UserId},
};
use time::OffsetDateTime;
use tower_sessions::Session;

use crate::{
    service::{
        people::{People, PeopleError, audit_events, email_of},
        sessions,
    },
    store::{devices, tx},
};

/// Ends one of a user's sessions, or returns [`PeopleError::NotFound`].
pub async fn end(
    people: &People,
    user: UserId,
    client: &Client,
    id: SessionId,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    if !sessions::end(&mut transaction, user, id).await? {
        return Err(PeopleError::NotFound);
    }
    let event = AccountEvent::SessionEnded {};
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Ends all sessions of a user except the current one, and requires the second factor from all browsers again.
pub async fn end_all_others(
    people: &People,
    user: UserId,
    current: &Session,
    client: &Client,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let email = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    sessions::end_all_others(&mut transaction, user, current).await?;
    devices::forget_all(&mut transaction, user).await?;
    let event = AccountEvent::OtherSessionsEnded {};
    audit_events::record(&mut transaction, user, &email, client, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}
