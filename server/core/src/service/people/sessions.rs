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
    let actor = audit_events::person(user, &email_of(people, user).await?, client);
    let mut transaction = tx::begin(&people.db).await?;
    if !sessions::end(&mut transaction, user, id).await? {
        return Err(PeopleError::NotFound);
    }
    audit_events::write_down(&mut transaction, user, &actor, &AccountEvent::SessionEnded {}, now).await?;
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
    let actor = audit_events::person(user, &email_of(people, user).await?, client);
    let mut transaction = tx::begin(&people.db).await?;
    sessions::end_all_others(&mut transaction, user, current).await?;
    devices::forget_all(&mut transaction, user).await?;
    audit_events::write_down(
        &mut transaction,
        user,
        &actor,
        &AccountEvent::OtherSessionsEnded {},
        now,
    )
    .await?;
    Ok(tx::commit(transaction).await?)
}
