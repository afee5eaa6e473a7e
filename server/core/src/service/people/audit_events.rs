//! Audit events of users' security settings. They are recorded in every account that a user belongs to, because they
//! affect its security.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    caller::User,
    client::Client,
    email::Email,
    ids::UserId,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::store::{account_log, error::StoreError, members};

/// Records the action of a logged-in user in all their accounts, in its transaction.
pub(super) async fn record(
    db: &mut PgConnection,
    user: UserId,
    email: &Email,
    client: &Client,
    event: &AccountEvent,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let person = User {
        id: user,
        email: email.as_str().to_owned(),
    };
    record_by(db, user, &Actor::of_person(person, client), event, now).await
}

/// As [`record`], for the action of another actor.
pub(super) async fn record_by(
    db: &mut PgConnection,
    user: UserId,
    actor: &Actor,
    event: &AccountEvent,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    for account in members::list_accounts(db, user).await? {
        account_log::insert(db, account, actor, event, now).await?;
    }
    Ok(())
}
