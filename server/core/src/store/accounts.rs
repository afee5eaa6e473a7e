//! Table `accounts`.

pub mod suspension;

use platen_domain::{
    display_name::DisplayName,
    download_link::DocumentLinks,
    ids::{AccountId, UserId},
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    deletions::DeletionOrder,
    error::StoreError,
    statement::{changes_one, execute},
};

/// Inserts an account whose credit periods begin now. The name may be empty. `credits` overrides the plan's credits of
/// one period.
pub async fn insert(
    db: &mut PgConnection,
    id: AccountId,
    name: &str,
    plan: &str,
    credits: Option<i64>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into accounts (id, name, plan, credits, period_anchor, inserted_at) values ($1, $2, $3, $4, $5, $5)",
        id.0,
        name,
        plan,
        credits,
        now,
    );
    execute(db, insert).await
}

/// Changes an account's plan. `credits` overrides the plan's credits of one period. Returns the previous plan, or
/// `None` if the account doesn't exist.
pub async fn update_plan(
    db: &mut PgConnection,
    id: AccountId,
    plan: &str,
    credits: Option<i64>,
) -> Result<Option<String>, StoreError> {
    let former = sqlx::query_scalar!(
        "with former as (select id, plan from accounts where id = $1 for no key update)
         update accounts set plan = $2, credits = $3 from former where accounts.id = former.id
         returning former.plan",
        id.0,
        plan,
        credits
    );
    Ok(former.fetch_optional(db).await?)
}

/// Returns the time at which an account was created. `None` if it doesn't exist.
pub async fn find_creation(db: &PgPool, id: AccountId) -> Result<Option<OffsetDateTime>, StoreError> {
    let created = sqlx::query_scalar!("select inserted_at from accounts where id = $1", id.0);
    Ok(created.fetch_optional(db).await?)
}

/// Returns whether the account exists, and prevents its deletion until the transaction ends.
pub async fn is_there(db: &mut PgConnection, id: AccountId) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!("select id from accounts where id = $1 for key share", id.0);
    Ok(found.fetch_optional(db).await?.is_some())
}

/// Recipient of notifications about an account.
pub struct OwnerAddress {
    /// Email address of the owner.
    pub email: String,
    /// Display name of the account.
    pub called: String,
}

/// Returns the owner of an account. `None` if the account doesn't exist.
pub async fn find_owner_address(db: &mut PgConnection, id: AccountId) -> Result<Option<OwnerAddress>, StoreError> {
    let owner = sqlx::query_as!(
        OwnerAddress,
        r#"select users.email, coalesce(nullif(accounts.name, ''), users.email) as "called!"
           from accounts
           join members on members.account_id = accounts.id and members.role = 'owner'
           join users on users.id = members.user_id
           where accounts.id = $1"#,
        id.0,
    );
    Ok(owner.fetch_optional(db).await?)
}

/// Sets whether the content of requests stays stored after their renders have ended. If not, the content of earlier
/// renders is marked for deletion; see [`list_to_forget`].
pub async fn update_keep_content(
    db: &mut PgConnection,
    id: AccountId,
    keep: bool,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update accounts
         set keep_content = $2, forget_content_before = case when $2 then forget_content_before else $3 end
         where id = $1",
        id.0,
        keep,
        now,
    );
    execute(db, update).await
}

/// Sets the addresses of an account's new documents.
pub async fn update_links(db: &mut PgConnection, id: AccountId, links: DocumentLinks) -> Result<(), StoreError> {
    let seconds = match links {
        DocumentLinks::Lasting(seconds) => Some(seconds),
        DocumentLinks::Public | DocumentLinks::ByPlan => None,
    };
    let update = sqlx::query!(
        "update accounts
         set links_by_plan = $3, link_seconds = case when $3 then plans.link_seconds else $2 end
         from plans
         where accounts.id = $1 and plans.name = accounts.plan",
        id.0,
        seconds,
        links == DocumentLinks::ByPlan,
    );
    execute(db, update).await
}

/// Returns the accounts whose stored content has to be deleted, with the time before which the renders were accepted.
pub async fn list_to_forget(db: &PgPool) -> Result<Vec<(AccountId, OffsetDateTime)>, StoreError> {
    let accounts = sqlx::query!(
        r#"select id, forget_content_before as "before!" from accounts where forget_content_before is not null"#
    )
    .map(|row| (AccountId(row.id), row.before));
    Ok(accounts.fetch_all(db).await?)
}

/// Marks the content as deleted, unless one of those renders is still in progress: it may have read the setting before
/// it was changed.
pub async fn update_forgotten(db: &PgPool, id: AccountId, before: OffsetDateTime) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update accounts set forget_content_before = null
         where id = $1 and forget_content_before = $2 and not exists (
            select from renders where account_id = $1 and status in ('queued', 'processing') and inserted_at <= $2
         )",
        id.0,
        before,
    );
    execute(db, update).await
}

/// Settings of an account that its owner controls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnersChoices {
    /// May be empty.
    pub name: String,
    /// Whether the content of requests stays stored after their renders have ended.
    pub keep_content: bool,
    /// The addresses of new documents.
    pub links: DocumentLinks,
    /// Lifetime in seconds of links with that of the plan.
    pub plan_link_seconds: i32,
    /// When a second factor becomes mandatory for all members.
    pub second_factor_from: Option<OffsetDateTime>,
    /// When the account will be deleted, if its deletion is scheduled.
    pub delete_at: Option<OffsetDateTime>,
}

/// Returns the settings of an account that this user owns. `None` if the user doesn't own it.
pub async fn find_of_owner(db: &PgPool, id: AccountId, owner: UserId) -> Result<Option<OwnersChoices>, StoreError> {
    let choices = sqlx::query!(
        "select accounts.name, accounts.keep_content, accounts.links_by_plan, accounts.link_seconds,
            plans.link_seconds as plan_link_seconds, accounts.second_factor_from, accounts.delete_at
         from accounts
         join plans on plans.name = accounts.plan
         join members on members.account_id = accounts.id
         where accounts.id = $1 and members.user_id = $2 and members.role = 'owner'",
        id.0,
        owner.0,
    )
    .map(|row| OwnersChoices {
        name: row.name,
        keep_content: row.keep_content,
        links: match row.link_seconds {
            _ if row.links_by_plan => DocumentLinks::ByPlan,
            Some(seconds) => DocumentLinks::Lasting(seconds),
            None => DocumentLinks::Public,
        },
        plan_link_seconds: row.plan_link_seconds,
        second_factor_from: row.second_factor_from,
        delete_at: row.delete_at,
    });
    Ok(choices.fetch_optional(db).await?)
}

/// Returns whether the account stores the content of requests. `false` if the account doesn't exist.
pub async fn keeps_content(db: &PgPool, id: AccountId) -> Result<bool, StoreError> {
    let keeps = sqlx::query_scalar!("select keep_content from accounts where id = $1", id.0);
    Ok(keeps.fetch_optional(db).await?.unwrap_or_default())
}

/// Renames an account that this user owns. Returns `false` if the user doesn't own it.
pub async fn update_name(
    db: &mut PgConnection,
    id: AccountId,
    owner: UserId,
    name: &DisplayName,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update accounts set name = $3
         from members
         where accounts.id = $1 and members.account_id = accounts.id and members.user_id = $2
             and members.role = 'owner'",
        id.0,
        owner.0,
        name.as_str(),
    );
    changes_one(db, update).await
}

/// Returns the name of an account, which may be empty. Fails if the account doesn't exist.
pub async fn find_name(db: impl PgExecutor<'_>, id: AccountId) -> Result<String, StoreError> {
    let name = sqlx::query_scalar!("select name from accounts where id = $1", id.0);
    Ok(name.fetch_one(db).await?)
}

/// Returns the display name of an account: its name or, if that is empty, its owner's email address.
pub async fn find_called(db: impl PgExecutor<'_>, id: AccountId) -> Result<Option<String>, StoreError> {
    Ok(list_called(db, &[id]).await?.pop().map(|(_, name)| name))
}

/// Returns the display names of several accounts; see [`find_called`].
pub async fn list_called(db: impl PgExecutor<'_>, ids: &[AccountId]) -> Result<Vec<(AccountId, String)>, StoreError> {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query!(
        r#"select accounts.id as "id!", coalesce(nullif(accounts.name, ''), users.email, '') as "name!"
           from accounts
           left join members on members.account_id = accounts.id and members.role = 'owner'
           left join users on users.id = members.user_id
           where accounts.id = any($1)"#,
        &ids,
    )
    .map(|row| (AccountId(row.id), row.name));
    Ok(rows.fetch_all(db).await?)
}

/// Sets when a second factor becomes mandatory in an account that this user owns; `None` makes it optional. Returns
/// `false` if the user doesn't own the account.
pub async fn update_second_factor_from(
    db: &mut PgConnection,
    id: AccountId,
    owner: UserId,
    from: Option<OffsetDateTime>,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update accounts set second_factor_from = $3
         from members
         where accounts.id = $1 and members.account_id = accounts.id and members.user_id = $2
             and members.role = 'owner'",
        id.0,
        owner.0,
        from,
    );
    changes_one(db, update).await
}

/// Schedules the deletion of an account that this user owns; `None` cancels it, unless its time has come. Returns the
/// account's name, or `None` if the user doesn't own it or the time has come.
pub async fn update_delete_at(
    db: &mut PgConnection,
    id: AccountId,
    owner: UserId,
    delete_at: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "update accounts
         set delete_at = $3,
             delete_asked_by = case when $3::timestamptz is not null then members.user_id end,
             delete_asked_at = case when $3::timestamptz is not null then $4::timestamptz end
         from members
         where accounts.id = $1 and members.account_id = accounts.id and members.user_id = $2
             and members.role = 'owner' and (accounts.delete_at is null or accounts.delete_at > $4)
         returning accounts.name",
        id.0,
        owner.0,
        delete_at,
        now,
    );
    Ok(name.fetch_optional(db).await?)
}

/// Returns the accounts that are due for deletion, and who requested it.
pub async fn list_to_delete(
    db: &PgPool,
    now: OffsetDateTime,
) -> Result<Vec<(OwnedAccount, DeletionOrder)>, StoreError> {
    let accounts = sqlx::query!(
        r#"select members.account_id, members.user_id, accounts.delete_asked_by,
               coalesce(accounts.delete_asked_at, accounts.delete_at) as "asked_at!"
           from accounts
           join members on members.account_id = accounts.id and members.role = 'owner'
           where accounts.delete_at <= $1"#,
        now,
    )
    .map(|row| {
        let account = OwnedAccount {
            account: AccountId(row.account_id),
            owner: UserId(row.user_id),
        };
        let order = DeletionOrder {
            asked_by: row.delete_asked_by.map(UserId),
            asked_at: row.asked_at,
        };
        (account, order)
    });
    Ok(accounts.fetch_all(db).await?)
}

/// Deletes an account with everything that belongs to it, and those of its members who belong to no other account,
/// unless they are operators. Returns the ids of its documents in the default storage.
pub async fn delete(db: &mut PgConnection, account: OwnedAccount) -> Result<Vec<Uuid>, StoreError> {
    let members = sqlx::query_scalar!("select user_id from members where account_id = $1", account.account.0);
    let members = members.fetch_all(&mut *db).await?;
    let objects = sqlx::query_scalar!(
        r#"select object_id as "object!" from renders where account_id = $1 and object_id is not null"#,
        account.account.0,
    );
    let objects = objects.fetch_all(&mut *db).await?;
    sqlx::query!("delete from accounts where id = $1", account.account.0)
        .execute(&mut *db)
        .await?;
    sqlx::query!(
        "delete from users
         where id = any($1) and operator_since is null and not exists (select from members where user_id = users.id)",
        &members,
    )
    .execute(db)
    .await?;
    Ok(objects)
}

/// An account and the user who owns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedAccount {
    pub account: AccountId,
    pub owner: UserId,
}

/// Returns the accounts owned by the user with this email address, oldest first.
pub async fn list_owned_by(db: &PgPool, email: &str) -> Result<Vec<OwnedAccount>, StoreError> {
    let accounts = sqlx::query_as!(
        OwnedAccount,
        "select members.account_id as account, members.user_id as owner from members
         join users on users.id = members.user_id
         where users.email = $1 and members.role = 'owner'
         order by members.inserted_at, members.account_id",
        email,
    );
    Ok(accounts.fetch_all(db).await?)
}

/// Returns whether any account exists.
pub async fn exist(db: &PgPool) -> Result<bool, StoreError> {
    Ok(
        sqlx::query_scalar!(r#"select exists (select from accounts) as "exist!""#)
            .fetch_one(db)
            .await?,
    )
}
