//! Table `stripe_customers`: accounts that pay, or wanted to. Times are the database's own, as in `jobs`.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{billing::LEASE, failed_work::kept_error, ids::AccountId},
    store::error::StoreError,
};

/// The account is a customer from now on, unless it is one already.
pub async fn insert(db: &PgPool, account: AccountId, id: &str, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into stripe_customers (id, account_id, inserted_at) values ($1, $2, $3) on conflict do nothing",
        id,
        account.0,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What an account is to Stripe; `None`: nothing yet.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<String>, StoreError> {
    let id = sqlx::query_scalar!("select id from stripe_customers where account_id = $1", account.0);
    Ok(id.fetch_optional(db).await?)
}

/// Says that something has changed at Stripe: somebody has to look. Returns what is seen by looking from now on; `None`:
/// there is no such customer.
pub async fn update_changed(db: &mut PgConnection, id: &str) -> Result<Option<i64>, StoreError> {
    let revision = sqlx::query_scalar!(
        "update stripe_customers set revision = revision + 1, look_at = now(), failures = 0 where id = $1
         returning revision",
        id,
    );
    Ok(revision.fetch_optional(db).await?)
}

/// Whether somebody has looked since then.
pub async fn is_seen(db: &PgPool, id: &str, revision: i64) -> Result<bool, StoreError> {
    let seen = sqlx::query_scalar!(
        r#"select seen_revision >= $2 as "seen!" from stripe_customers where id = $1"#,
        id,
        revision,
    );
    Ok(seen.fetch_optional(db).await?.unwrap_or(true))
}

/// Says so of every customer.
pub async fn update_all_due(db: &PgPool) -> Result<(), StoreError> {
    sqlx::query!("update stripe_customers set look_at = now(), failures = 0")
        .execute(db)
        .await?;
    Ok(())
}

/// A customer that somebody has in hand.
#[derive(Debug, Clone)]
pub struct ClaimedCustomer {
    /// Stripe's.
    pub id: String,
    /// Proves that it is in hand.
    pub claim: Uuid,
    /// `None`: the account is deleted.
    pub account: Option<AccountId>,
    /// Looks that failed before this one.
    pub failures: i32,
    /// What is seen by looking now.
    pub revision: i64,
    /// Whether an event is the reason for looking.
    pub told: bool,
}

/// Takes customers who are due; with `only`, this one, if it is. What a process held that is gone is taken again when its
/// lease is over.
pub async fn claim(db: &PgPool, only: Option<&str>, at_most: i64) -> Result<Vec<ClaimedCustomer>, StoreError> {
    let rows = sqlx::query!(
        r#"update stripe_customers
           set claim = gen_random_uuid(), lease_until = now() + $3::float8 * interval '1 s'
           where id in (
               select id from stripe_customers
               where (look_at <= now() or account_id is null and failures = 0)
                   and (claim is null or lease_until < now()) and ($1::text is null or id = $1)
               order by look_at
               limit $2
               for update skip locked
           )
           returning id, claim as "claim!", account_id, failures, revision, revision > seen_revision as "told!""#,
        only,
        at_most,
        LEASE.as_secs_f64(),
    )
    .fetch_all(db)
    .await?;
    let customers = rows.into_iter().map(|row| ClaimedCustomer {
        id: row.id,
        claim: row.claim,
        account: row.account_id.map(AccountId),
        failures: row.failures,
        revision: row.revision,
        told: row.told,
    });
    Ok(customers.collect())
}

/// The plan that was given last to the account of a customer in hand, whose row is locked. `None` outside: somebody else
/// has it by now, or its account is gone.
pub async fn lock_given_plan(
    db: &mut PgConnection,
    customer: &ClaimedCustomer,
) -> Result<Option<Option<String>>, StoreError> {
    let plan = sqlx::query_scalar!(
        "select given_plan from stripe_customers
         where id = $1 and claim = $2 and account_id = $3
         for no key update",
        customer.id,
        customer.claim,
        customer.account.map(|account| account.0),
    );
    Ok(plan.fetch_optional(db).await?)
}

/// Gives back a customer in hand who was looked at. What changed meanwhile is looked at again at once.
pub async fn complete(
    db: &mut PgConnection,
    customer: &ClaimedCustomer,
    given_plan: Option<&str>,
    look_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update stripe_customers
         set claim = null, lease_until = null, failures = 0, failed_at = null, seen_revision = $3, given_plan = $4,
             look_at = case when revision > $3 then now() else $5 end
         where id = $1 and claim = $2",
        customer.id,
        customer.claim,
        customer.revision,
        given_plan,
        look_at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Gives back a customer in hand who could not be looked at for this reason, to be tried again after so many seconds.
pub async fn release(
    db: &PgPool,
    customer: &ClaimedCustomer,
    error: &str,
    delay_seconds: f64,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update stripe_customers
         set claim = null, lease_until = null, failures = failures + 1, failed_at = now(), last_error = $4,
             look_at = now() + $3::float8 * interval '1 s'
         where id = $1 and claim = $2",
        customer.id,
        customer.claim,
        delay_seconds,
        kept_error(error),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets a customer in hand, with all that Stripe has told of it.
pub async fn delete(db: &PgPool, customer: &ClaimedCustomer) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from stripe_customers where id = $1 and claim = $2 and account_id is null",
        customer.id,
        customer.claim,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Every customer, by Stripe's name for it.
pub async fn list(db: &PgPool) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!("select id from stripe_customers order by id")
        .fetch_all(db)
        .await?)
}
