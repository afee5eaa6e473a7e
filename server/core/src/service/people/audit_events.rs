//! Audit events of users' security settings. They are recorded in every account that a user belongs to, because they
//! affect its security.

use platen_domain::{
    account_log::{AccountEvent, Actor, ActorKind},
    client::Client,
    email::Email,
    ids::UserId,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::store::{account_log, error::StoreError, members};

/// Returns a logged-in user as actor.
pub(super) fn person(user: UserId, email: &Email, client: &Client) -> Actor {
    Actor {
        kind: ActorKind::Person {
            id: user,
            email: email.as_str().to_owned(),
        },
        client: Some(client.clone()),
    }
}

/// Records an audit event of a user in all their accounts, in the transaction of the action.
pub(super) async fn write_down(
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
