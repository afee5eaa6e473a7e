//! All accounts, for operators only. Unlike the rest of the store, these functions aren't limited to one account.

use platen_domain::{
    account_directory::{AccountPeriod, AccountRecord, DirectoryCounts, DirectoryEntry, DirectorySearch},
    ids::AccountId,
};
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::error::StoreError;

/// Returns up to `most` accounts that match the search.
pub async fn list(
    db: &PgPool,
    search: &DirectorySearch,
    most: i64,
    now: OffsetDateTime,
) -> Result<Vec<DirectoryEntry>, StoreError> {
    let text = search.text.trim();
    let id = Uuid::try_parse(text).ok();
    let entries = sqlx::query_as!(
        DirectoryEntry,
        r#"with found as (
               select accounts.id, coalesce(nullif(accounts.name, ''), users.email, '') as called,
                   coalesce(users.email, '') as owner, accounts.plan, accounts.inserted_at, accounts.suspended_at,
                   accounts.delete_at, coalesce(periods.used, 0) as used,
                   coalesce(
                       periods.allowance + periods.granted + periods.bought, accounts.credits, plans.credits
                   ) as total,
                   case $5
                       when 'newest' then (extract(epoch from accounts.inserted_at) * 1000)::bigint
                       when 'used' then coalesce(periods.used, 0)
                       else (
                           select count(*) from renders
                           where account_id = accounts.id and inserted_at > $6::timestamptz - interval '1 day'
                               and status = 'failed'
                       )
                   end as rank
               from accounts
               join plans on plans.name = accounts.plan
               left join members on members.account_id = accounts.id and members.role = 'owner'
               left join users on users.id = members.user_id
               left join credit_periods periods
                   on periods.account_id = accounts.id and periods.starts_at <= $6 and periods.ends_at > $6
               where ($1 = ''
                       or strpos(lower(accounts.name), lower($1)) > 0
                       or exists (
                           select from members belonging join users person on person.id = belonging.user_id
                           where belonging.account_id = accounts.id and strpos(person.email, lower($1)) > 0
                       )
                       or exists (
                           select from api_keys where api_keys.account_id = accounts.id
                               and (starts_with($1, hint) or (length($1) >= 8 and starts_with(hint, $1)))
                       )
                       or accounts.id = $2
                       or exists (select from renders where renders.id = $2 and renders.account_id = accounts.id))
                   and ($3::text is null or accounts.plan = $3)
                   and case $4::text
                       when 'active' then accounts.suspended_at is null and accounts.delete_at is null
                       when 'suspended' then accounts.suspended_at is not null
                       when 'to_be_deleted' then accounts.delete_at is not null
                       else true
                   end
           )
           select found.id, called as "called!", owner as "owner!", plan, used as "used!", total as "total!",
               recent.ended as "ended!", recent.failed as "failed!", inserted_at, suspended_at, delete_at,
               rank as "rank!"
           from (
               select * from found
               where $7::bigint is null or (rank, id) < ($7, $8::uuid)
               order by rank desc, id desc
               limit $9
           ) found
           cross join lateral (
               select count(*) filter (where finished_at is not null) as ended,
                   count(*) filter (where status = 'failed') as failed
               from renders
               where account_id = found.id and renders.inserted_at > $6::timestamptz - interval '1 day'
           ) recent
           order by rank desc, found.id desc"#,
        text,
        id,
        search.plan,
        search.state.map(|state| state.into_str()),
        search.order.into_str(),
        now,
        search.after.map(|after| after.rank),
        search.after.map(|after| after.account.0),
        most,
    );
    Ok(entries.fetch_all(db).await?)
}

/// Counts all accounts. `free` is the name of the free plan.
pub async fn count(db: &PgPool, free: &str) -> Result<DirectoryCounts, StoreError> {
    let counts = sqlx::query_as!(
        DirectoryCounts,
        r#"select count(*) as "accounts!", count(*) filter (where plan <> $1) as "paid!",
               count(*) filter (where suspended_at is not null) as "suspended!"
           from accounts"#,
        free,
    );
    Ok(counts.fetch_one(db).await?)
}

/// Returns one account. `None` if it doesn't exist.
pub async fn find(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Option<AccountRecord>, StoreError> {
    let record = sqlx::query_as!(
        AccountRecord,
        r#"select coalesce(nullif(accounts.name, ''), users.email, '') as "called!", accounts.plan, accounts.credits,
               accounts.inserted_at, suspended_at, suspended_because, delete_at, concurrency, rate_per_minute,
               body_bytes, sync_deadline_seconds, storage_limits,
               (select count(*) from invitations where account_id = $1 and expires_at > $2) as "invitations!",
               (select count(*) from connections where account_id = $1) as "connections!",
               (select count(*) from templates where account_id = $1 and deleted_at is null) as "templates!",
               (select count(*) from jobs where account_id = $1 and claim is null) as "waiting!",
               (select count(*) from jobs where account_id = $1 and claim is not null) as "in_hand!",
               (select id from stripe_customers where account_id = $1) as customer
           from accounts
           left join members on members.account_id = accounts.id and members.role = 'owner'
           left join users on users.id = members.user_id
           where accounts.id = $1"#,
        account.0,
        now,
    );
    Ok(record.fetch_optional(db).await?)
}

/// Returns up to `most` periods of an account, latest first.
pub async fn list_periods(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<AccountPeriod>, StoreError> {
    let periods = sqlx::query_as!(
        AccountPeriod,
        "select starts_at, allowance, granted, bought, used, overage_used from credit_periods
         where account_id = $1 order by starts_at desc limit $2",
        account.0,
        most,
    );
    Ok(periods.fetch_all(db).await?)
}
