//! Table `members`: memberships of users in accounts.

use platen_domain::{
    email::Email,
    ids::{AccountId, UserId},
    plan::PlanLimits,
    role::Role,
    team::Member,
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

pub async fn insert_owner(
    db: &mut PgConnection,
    account: AccountId,
    user: UserId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into members (account_id, user_id, role, inserted_at) values ($1, $2, 'owner', $3)",
        account.0,
        user.0,
        now,
    );
    execute(db, insert).await
}

/// Adds a user to the account. Existing members keep their role.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    user: UserId,
    role: Role,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into members (account_id, user_id, role, inserted_at) values ($1, $2, $3, $4)
         on conflict on constraint members_pkey do nothing",
        account.0,
        user.0,
        role.into_str(),
        now,
    );
    execute(db, insert).await
}

/// Locks the account against other changes of its members until the transaction ends.
pub async fn lock_account(db: &mut PgConnection, account: AccountId) -> Result<(), StoreError> {
    sqlx::query!("select id from accounts where id = $1 for no key update", account.0)
        .fetch_optional(db)
        .await?;
    Ok(())
}

/// Returns the members of an account: its owner first, then by the start of membership.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<Member>, StoreError> {
    let members = sqlx::query_as!(
        Member,
        "select users.id as user, users.name, users.email, members.role, members.seen_at
         from members join users on users.id = members.user_id
         where members.account_id = $1
         order by members.role = 'owner' desc, members.inserted_at, users.id",
        account.0,
    );
    Ok(members.fetch_all(db).await?)
}

/// Returns one member of an account.
pub async fn find(db: &mut PgConnection, account: AccountId, user: UserId) -> Result<Option<Member>, StoreError> {
    let member = sqlx::query_as!(
        Member,
        "select users.id as user, users.name, users.email, members.role, members.seen_at
         from members join users on users.id = members.user_id
         where members.account_id = $1 and members.user_id = $2",
        account.0,
        user.0,
    );
    Ok(member.fetch_optional(db).await?)
}

/// Returns the owner of an account.
pub async fn find_owner(db: impl PgExecutor<'_>, account: AccountId) -> Result<Option<UserId>, StoreError> {
    let owner = sqlx::query_scalar!(
        "select user_id from members where account_id = $1 and role = 'owner'",
        account.0
    );
    Ok(owner.fetch_optional(db).await?.map(UserId))
}

/// Returns the email addresses of the owner and the admins of an account.
pub async fn list_manager_addresses(db: &mut PgConnection, account: AccountId) -> Result<Vec<String>, StoreError> {
    let addresses = sqlx::query_scalar!(
        "select users.email from members join users on users.id = members.user_id
         where members.account_id = $1 and members.role in ('owner', 'admin')
         order by members.inserted_at, users.id",
        account.0,
    );
    Ok(addresses.fetch_all(db).await?)
}

/// Returns whether a member of the account has one of these email addresses.
pub async fn any_has_address(db: &mut PgConnection, account: AccountId, emails: &[Email]) -> Result<bool, StoreError> {
    let emails: Vec<String> = emails.iter().map(|email| email.as_str().to_owned()).collect();
    let found = sqlx::query_scalar!(
        r#"select exists (
               select from members join users on users.id = members.user_id
               where members.account_id = $1 and users.email = any($2)
           ) as "found!""#,
        account.0,
        &emails,
    );
    Ok(found.fetch_one(db).await?)
}

/// Changes a member's role. The database rejects a second owner.
pub async fn update_role(
    db: &mut PgConnection,
    account: AccountId,
    user: UserId,
    role: Role,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update members set role = $3 where account_id = $1 and user_id = $2",
        account.0,
        user.0,
        role.into_str(),
    );
    execute(db, update).await
}

/// Records when a member last acted for the account.
pub async fn update_seen(db: &PgPool, account: AccountId, user: UserId, now: OffsetDateTime) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update members set seen_at = $3 where account_id = $1 and user_id = $2",
        account.0,
        user.0,
        now,
    );
    execute(db, update).await
}

/// Dismisses the checklist of the first steps for a member.
pub async fn dismiss_checklist(
    db: &PgPool,
    account: AccountId,
    user: UserId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update members set checklist_dismissed_at = $3 where account_id = $1 and user_id = $2",
        account.0,
        user.0,
        now,
    );
    execute(db, update).await
}

/// Ends a membership.
pub async fn delete(db: &mut PgConnection, account: AccountId, user: UserId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from members where account_id = $1 and user_id = $2",
        account.0,
        user.0
    );
    execute(db, delete).await
}

/// An account as its members see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub account: AccountId,
    /// May be empty.
    pub name: String,
    /// Email address of the owner.
    pub owner: String,
    /// Role of the user.
    pub role: Role,
    /// Whether an operator has suspended the account.
    pub suspended: bool,
    /// When the account will be deleted, if its deletion is scheduled.
    pub delete_at: Option<OffsetDateTime>,
}

/// Returns the accounts that a user belongs to, by the start of membership.
pub async fn list_of_user(db: &PgPool, user: UserId) -> Result<Vec<Membership>, StoreError> {
    let memberships = sqlx::query_as!(
        Membership,
        r#"select accounts.id as account, accounts.name, users.email as owner, members.role,
               accounts.suspended_at is not null as "suspended!", accounts.delete_at
           from members
           join accounts on accounts.id = members.account_id
           join members owners on owners.account_id = accounts.id and owners.role = 'owner'
           join users on users.id = owners.user_id
           where members.user_id = $1
           order by members.inserted_at, accounts.id"#,
        user.0,
    );
    Ok(memberships.fetch_all(db).await?)
}

/// Returns the accounts that a user belongs to, for events that are recorded in all of them.
pub async fn list_accounts(db: &mut PgConnection, user: UserId) -> Result<Vec<AccountId>, StoreError> {
    let accounts = sqlx::query_scalar!("select account_id from members where user_id = $1", user.0);
    Ok(accounts.fetch_all(db).await?.into_iter().map(AccountId).collect())
}

/// The account for which a logged-in user acts, and what they may do.
pub struct AccountOfPerson {
    pub account: AccountId,
    /// Email address of the user.
    pub email: String,
    pub role: Role,
    /// When they last acted for the account.
    pub seen_at: Option<OffsetDateTime>,
    /// Whether an operator has suspended the account.
    pub suspended: bool,
    /// Whether the account requires a second factor that the user doesn't have.
    pub needs_second_factor: bool,
    pub limits: PlanLimits,
}

/// Returns the account that a user has chosen or, without a choice, the one they have belonged to longest. `None` if
/// the user doesn't belong to it, or to any account.
pub async fn find_caller(
    db: &PgPool,
    user: UserId,
    chosen: Option<AccountId>,
) -> Result<Option<AccountOfPerson>, StoreError> {
    let row = sqlx::query!(
        r#"select accounts.id, users.email, members.role, members.seen_at,
               accounts.suspended_at is not null as "suspended!",
               (coalesce(accounts.second_factor_from <= now(), false) and not exists (
                   select from users_with_second_factor where user_id = users.id
               )) as "needs_second_factor!",
               limits.concurrency as "concurrency!", limits.rate_per_minute as "rate_per_minute!",
               limits.body_bytes as "body_bytes!", limits.sync_deadline_seconds as "sync_deadline_seconds!"
           from members
           join accounts on accounts.id = members.account_id
           join account_limits limits on limits.account_id = accounts.id
           join users on users.id = members.user_id
           where members.user_id = $1 and ($2::uuid is null or accounts.id = $2)
           order by members.inserted_at, accounts.id
           limit 1"#,
        user.0,
        chosen.map(|chosen| chosen.0),
    )
    .map(|row| AccountOfPerson {
        account: AccountId(row.id),
        email: row.email,
        role: row.role.into(),
        seen_at: row.seen_at,
        suspended: row.suspended,
        needs_second_factor: row.needs_second_factor,
        limits: PlanLimits::from_columns(
            row.concurrency,
            row.rate_per_minute,
            row.body_bytes,
            row.sync_deadline_seconds,
        ),
    });
    Ok(row.fetch_optional(db).await?)
}

/// Figures about a user and the account for which they act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The user's name; may be empty.
    pub person: String,
    /// Whether the user is an operator.
    pub operator: bool,
    /// When the account will be deleted, if its deletion is scheduled.
    pub delete_at: Option<OffsetDateTime>,
    pub members: i64,
    /// From when on the user needs a second factor, if they don't have one and the account requires it.
    pub second_factor_from: Option<OffsetDateTime>,
    /// Templates that aren't deleted.
    pub templates: i64,
    pub assets: i64,
    /// Keys that are neither revoked nor expired.
    pub keys: i64,
    pub connections: i64,
    /// Whether the user has dismissed the checklist of the first steps.
    pub checklist_dismissed: bool,
}

/// Returns figures about an account for a user who views it: a member or an operator.
pub async fn summarise(
    db: &PgPool,
    account: AccountId,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Summary, StoreError> {
    let summary = sqlx::query_as!(
        Summary,
        r#"select users.name as person, users.operator_since is not null as "operator!", accounts.delete_at,
               case when not exists (
                   select from users_with_second_factor where user_id = $2
               ) then accounts.second_factor_from end as second_factor_from,
               (select count(*) from members where account_id = $1) as "members!",
               (select count(*) from templates where account_id = $1 and deleted_at is null) as "templates!",
               coalesce(
                   (select (used ->> 'assets')::bigint from account_storage where account_id = $1), 0
               ) as "assets!",
               (select count(*) from api_keys
                where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $3)) as "keys!",
               (select count(*) from connections where account_id = $1) as "connections!",
               exists (
                   select from members
                   where account_id = $1 and user_id = $2 and checklist_dismissed_at is not null
               ) as "checklist_dismissed!"
           from accounts cross join users
           where accounts.id = $1 and users.id = $2"#,
        account.0,
        user.0,
        now,
    );
    Ok(summary.fetch_one(db).await?)
}
