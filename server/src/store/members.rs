//! Table `members`: who belongs to which account.

use sqlx::{PgConnection, PgPool};
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

/// An account, as those see it who belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The account.
    pub account: AccountId,
    /// May be empty.
    pub name: String,
    /// What the person may do: owner, admin or member.
    pub role: String,
    /// By an operator.
    pub suspended: bool,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
}

/// The accounts that a user belongs to, those first that they have belonged to the longest.
pub async fn list_of_user(db: &PgPool, user: UserId) -> Result<Vec<Membership>, StoreError> {
    let memberships = sqlx::query_as!(
        Membership,
        r#"select accounts.id as account, accounts.name, members.role,
               accounts.suspended_at is not null as "suspended!", accounts.delete_at
           from members join accounts on accounts.id = members.account_id
           where members.user_id = $1
           order by members.inserted_at, accounts.id"#,
        user.0,
    );
    Ok(memberships.fetch_all(db).await?)
}
