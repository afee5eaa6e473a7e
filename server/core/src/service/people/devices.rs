//! Browsers that users have logged in with: which of them skip the second factor, how their wrong passwords are
//! counted, and the mail about a new one.

use platen_domain::{
    client::{Client, RememberedDevice, device},
    email::Email,
    ids::{DeviceId, UserId},
    mail::MailKind,
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    service::people::{People, PeopleError, limits::Guesser},
    store::{
        devices::{self, Seen},
        error::StoreError,
        mails, tx,
    },
};

/// Maximum lifetime of cookies in browsers (RFC 6265bis, 5.5).
pub const LIFETIME: Duration = Duration::days(400);
/// No user has this id.
const NO_USER: UserId = UserId(Uuid::nil());

/// Returns whether a client is a browser that the user has logged in with. Queries the database even if there is no
/// such user, so that the timing doesn't reveal that.
pub(super) async fn guesser(people: &People, user: Option<UserId>, client: &Client) -> Result<Guesser, PeopleError> {
    let Some(browser) = client.device else {
        return Ok(Guesser::Anyone);
    };
    let known = devices::is_known(&people.db, user.unwrap_or(NO_USER), browser).await?;
    Ok(if known {
        Guesser::KnownBrowser(browser)
    } else {
        Guesser::Anyone
    })
}

/// Records a login, and mails the user if it is the first one with this browser. The first browser of a user causes no
/// mail.
pub(super) async fn note(
    people: &People,
    user: UserId,
    email: &Email,
    client: &Client,
    remembered_until: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let Some(browser) = client.device else {
        return Ok(());
    };
    let mut transaction = tx::begin(&people.db).await?;
    let seen = devices::upsert(&mut transaction, user, client, browser, remembered_until, now).await?;
    if seen == Seen::New {
        let mail = MailKind::NewDevice {
            device: device(&client.user_agent),
            address: client.address,
            at: now,
        };
        mails::insert(&mut transaction, email, Some(user), &mail, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Returns the browsers that skip a user's second factor.
pub async fn remembered(
    people: &People,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Vec<RememberedDevice>, PeopleError> {
    Ok(devices::list_remembered(&people.db, user, now).await?)
}

/// Requires the second factor from a browser again.
pub async fn forget(people: &People, user: UserId, device: DeviceId) -> Result<(), PeopleError> {
    let forgotten = devices::forget(&people.db, user, device).await?;
    forgotten.then_some(()).ok_or(PeopleError::NotFound)
}

/// Deletes browsers whose cookie has expired.
pub(super) async fn purge(people: &People, now: OffsetDateTime) -> Result<(), StoreError> {
    devices::delete_unused(&people.db, now - LIFETIME).await
}
