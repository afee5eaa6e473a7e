//! Table `stripe_customers`: accounts that pay, or have started to. Their state at Stripe is synchronized in the
//! background. Times come from the database's clock, as in `jobs`.

use platen_domain::{billing::LEASE, failed_jobs::kept_error, ids::AccountId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// Stores the Stripe customer of an account. Does nothing if the account already has one.
pub async fn insert(db: &PgPool, account: AccountId, id: &str, now: OffsetDateTime) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into stripe_customers (id, account_id, inserted_at) values ($1, $2, $3) on conflict do nothing",
        id,
        account.0,
        now,
    );
    execute(db, insert).await
}

/// Returns the id of the account's Stripe customer.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<String>, StoreError> {
    let id = sqlx::query_scalar!("select id from stripe_customers where account_id = $1", account.0);
    Ok(id.fetch_optional(db).await?)
}

/// Marks a customer for synchronization, because something has changed at Stripe. Returns the revision that a later
/// synchronization will have covered, or `None` if there is no such customer.
pub async fn update_changed(db: &mut PgConnection, id: &str) -> Result<Option<i64>, StoreError> {
    let revision = sqlx::query_scalar!(
        "update stripe_customers set revision = revision + 1, look_at = now(), failures = 0 where id = $1
         returning revision",
        id,
    );
    Ok(revision.fetch_optional(db).await?)
}

/// Returns whether a customer has been synchronized since `revision`. `true` if there is no such customer.
pub async fn is_seen(db: &PgPool, id: &str, revision: i64) -> Result<bool, StoreError> {
    let seen = sqlx::query_scalar!(
        r#"select seen_revision >= $2 as "seen!" from stripe_customers where id = $1"#,
        id,
        revision,
    );
    Ok(seen.fetch_optional(db).await?.unwrap_or(true))
}

/// Marks all customers for synchronization.
pub async fn update_all_due(db: &PgPool) -> Result<(), StoreError> {
    let update = sqlx::query!("update stripe_customers set look_at = now(), failures = 0");
    execute(db, update).await
}

/// A customer that a worker holds.
#[derive(Debug, Clone)]
pub struct ClaimedCustomer {
    /// Stripe's id.
    pub id: String,
    /// Identifies the claim.
    pub claim: Uuid,
    /// `None` if the account was deleted.
    pub account: Option<AccountId>,
    /// Failed synchronizations before this one.
    pub failures: i32,
    /// Revision that this synchronization covers.
    pub revision: i64,
    /// Whether a reported change, rather than the schedule, caused this synchronization.
    pub is_notified: bool,
}

/// Claims customers that are due; with `only`, just that customer, if it is due. A customer held by a dead process can
/// be claimed again when its lease ends.
pub async fn claim(db: &PgPool, only: Option<&str>, at_most: i64) -> Result<Vec<ClaimedCustomer>, StoreError> {
    let customers = sqlx::query!(
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
    .map(|row| ClaimedCustomer {
        id: row.id,
        claim: row.claim,
        account: row.account_id.map(AccountId),
        failures: row.failures,
        revision: row.revision,
        is_notified: row.told,
    });
    Ok(customers.fetch_all(db).await?)
}

/// Locks a customer's row and returns the plan that was last set because of its payments. The outer `None` means that
/// another worker holds the customer, or that its account was deleted.
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

/// Releases a synchronized customer until `look_at`. If it has changed meanwhile, it is due again immediately.
pub async fn complete(
    db: &mut PgConnection,
    customer: &ClaimedCustomer,
    given_plan: Option<&str>,
    look_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update stripe_customers
         set claim = null, lease_until = null, failures = 0, failed_at = null, seen_revision = $3, given_plan = $4,
             look_at = case when revision > $3 then now() else $5 end
         where id = $1 and claim = $2",
        customer.id,
        customer.claim,
        customer.revision,
        given_plan,
        look_at,
    );
    execute(db, update).await
}

/// Releases a customer whose synchronization failed, for a retry after `delay_seconds`.
pub async fn release(
    db: &PgPool,
    customer: &ClaimedCustomer,
    error: &str,
    delay_seconds: f64,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update stripe_customers
         set claim = null, lease_until = null, failures = failures + 1, failed_at = now(), last_error = $4,
             look_at = now() + $3::float8 * interval '1 s'
         where id = $1 and claim = $2",
        customer.id,
        customer.claim,
        delay_seconds,
        kept_error(error),
    );
    execute(db, update).await
}

/// Deletes a customer whose account was deleted, with everything that Stripe has reported about it.
pub async fn delete(db: &PgPool, customer: &ClaimedCustomer) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from stripe_customers where id = $1 and claim = $2 and account_id is null",
        customer.id,
        customer.claim,
    );
    execute(db, delete).await
}

/// Returns the Stripe ids of all customers.
pub async fn list(db: &PgPool) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!("select id from stripe_customers order by id")
        .fetch_all(db)
        .await?)
}
