//! What people do of themselves, written down in every account that they belong to: who runs it wants to know whether its
//! doors are locked.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{
        account_log::{Actor, Deed, Doer},
        client::Client,
        email::Email,
        ids::UserId,
    },
    store::{account_log, error::StoreError, members},
};

/// Somebody who is logged in.
pub(super) fn person(user: UserId, email: &Email, client: &Client) -> Doer {
    Doer {
        actor: Actor::Person {
            id: user,
            email: email.as_str().to_owned(),
        },
        client: Some(client.clone()),
    }
}

/// Writes down what was done of a user, in the transaction that does it.
pub(super) async fn write_down(
    db: &mut PgConnection,
    user: UserId,
    doer: &Doer,
    deed: &Deed,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    for account in members::list_accounts(db, user).await? {
        account_log::insert(db, account, doer, deed, now).await?;
    }
    Ok(())
}
