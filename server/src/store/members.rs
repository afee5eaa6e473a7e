//! Table `members`: who belongs to which account.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::ids::{AccountId, UserId},
    store::error::StoreError,
};

/// Makes a user the account's owner.
pub async fn insert_owner(
    db: &mut PgConnection,
    account: AccountId,
    user: UserId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into members (account_id, user_id, role, inserted_at) values ($1, $2, 'owner', $3)",
        account.0,
        user.0,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}
