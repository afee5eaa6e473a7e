//! Table `members`: who belongs to which account.

use platen_app::model::role::Role;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::{AccountId, UserId},
        plan::PlanLimits,
    },
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
    /// What the person is in it.
    pub role: Role,
    /// By an operator.
    pub suspended: bool,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
}

/// The accounts that a user belongs to, those first that they have belonged to the longest.
pub async fn list_of_user(db: &PgPool, user: UserId) -> Result<Vec<Membership>, StoreError> {
    let rows = sqlx::query!(
        r#"select accounts.id, accounts.name, members.role, accounts.suspended_at is not null as "suspended!",
               accounts.delete_at
           from members join accounts on accounts.id = members.account_id
           where members.user_id = $1
           order by members.inserted_at, accounts.id"#,
        user.0,
    );
    let memberships = rows.fetch_all(db).await?.into_iter().map(|row| Membership {
        account: AccountId(row.id),
        name: row.name,
        role: read_role(&row.role),
        suspended: row.suspended,
        delete_at: row.delete_at,
    });
    Ok(memberships.collect())
}

/// A role that this build does not know comes from a newer one, and gives the least here.
fn read_role(word: &str) -> Role {
    Role::parse(word).unwrap_or(Role::Member)
}

/// What somebody who is logged in may use.
pub struct AccountOfPerson {
    /// The account.
    pub account: AccountId,
    /// Log-in name of the person.
    pub email: String,
    /// What they are in it.
    pub role: Role,
    /// By an operator.
    pub suspended: bool,
    /// The limits of the account's plan.
    pub limits: PlanLimits,
}

/// The account that a user has chosen, if they belong to it; else the one that they have belonged to the longest. `None`:
/// they belong to none.
pub async fn find_caller(
    db: &PgPool,
    user: UserId,
    chosen: Option<AccountId>,
) -> Result<Option<AccountOfPerson>, StoreError> {
    let row = sqlx::query!(
        r#"select accounts.id, users.email, members.role, accounts.suspended_at is not null as "suspended!", plans.concurrency,
               plans.rate_per_minute, plans.body_bytes, plans.sync_deadline_seconds
           from members
           join accounts on accounts.id = members.account_id
           join plans on plans.name = accounts.plan
           join users on users.id = members.user_id
           where members.user_id = $1
           order by accounts.id is not distinct from $2 desc, members.inserted_at, accounts.id
           limit 1"#,
        user.0,
        chosen.map(|chosen| chosen.0),
    );
    let row = row.fetch_optional(db).await?;
    Ok(row.map(|row| AccountOfPerson {
        account: AccountId(row.id),
        email: row.email,
        role: read_role(&row.role),
        suspended: row.suspended,
        limits: PlanLimits::from_columns(
            row.concurrency,
            row.rate_per_minute,
            row.body_bytes,
            row.sync_deadline_seconds,
        ),
    }))
}

/// A member and their account, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What the person calls themselves; may be empty.
    pub person: String,
    /// What the account is called; may be empty.
    pub account: String,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
    /// Templates.
    pub templates: i64,
    /// Keys that are neither revoked nor expired.
    pub keys: i64,
    /// Storage connections.
    pub connections: i64,
}

/// An account, as one of its members sees it.
pub async fn summarise(
    db: &PgPool,
    account: AccountId,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Summary, StoreError> {
    let summary = sqlx::query_as!(
        Summary,
        r#"select users.name as person, accounts.name as account, accounts.delete_at,
               (select count(*) from templates where account_id = $1 and deleted_at is null) as "templates!",
               (select count(*) from api_keys
                where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $3)) as "keys!",
               (select count(*) from connections where account_id = $1) as "connections!"
           from members
           join accounts on accounts.id = members.account_id
           join users on users.id = members.user_id
           where members.account_id = $1 and members.user_id = $2"#,
        account.0,
        user.0,
        now,
    );
    Ok(summary.fetch_one(db).await?)
}
