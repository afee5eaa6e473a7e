//! Table `stripe_customers`: accounts that pay, or have started to. Their state at Stripe is synchronized by jobs.

use platen_domain::ids::AccountId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, jobs::Claim, statement::execute};

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

/// Marks a customer for synchronization, because something has changed at Stripe: a trigger makes its job due. Returns
/// the revision that a later synchronization will have covered, or `None` if there is no such customer.
pub async fn update_changed(db: &mut PgConnection, id: &str) -> Result<Option<i64>, StoreError> {
    let revision = sqlx::query_scalar!(
        "update stripe_customers set revision = revision + 1 where id = $1 returning revision",
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

/// Makes the jobs of all customers due.
pub async fn update_all_due(db: &PgPool) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into jobs (id, kind, customer_id, priority, run_at, due)
         select gen_random_uuid(), 'customer', id, 0, now(), true from stripe_customers
         on conflict (customer_id) where customer_id is not null do update
         set run_at = excluded.run_at, due = true, failures = 0 where jobs.claim is null",
    );
    execute(db, insert).await
}

/// A customer that is to be synchronized.
#[derive(Debug, Clone)]
pub struct QueuedCustomer {
    /// Stripe's id.
    pub id: String,
    /// `None` if the account was deleted.
    pub account: Option<AccountId>,
    /// Revision that this synchronization covers.
    pub revision: i64,
    /// Whether a reported change, rather than the schedule, caused this synchronization.
    pub is_notified: bool,
}

/// Returns a customer that is to be synchronized.
pub async fn find_queued(db: &PgPool, id: &str) -> Result<Option<QueuedCustomer>, StoreError> {
    let customer = sqlx::query!(
        r#"select id, account_id, revision, revision > seen_revision as "told!" from stripe_customers where id = $1"#,
        id,
    )
    .map(|row| QueuedCustomer {
        id: row.id,
        account: row.account_id.map(AccountId),
        revision: row.revision,
        is_notified: row.told,
    });
    Ok(customer.fetch_optional(db).await?)
}

/// Locks a customer's row and returns the plan that was last set because of its payments. The outer `None` means that
/// another worker holds the customer's job, or that its account was deleted.
pub async fn lock_given_plan(
    db: &mut PgConnection,
    claim: &Claim,
    customer: &str,
    account: AccountId,
) -> Result<Option<Option<String>>, StoreError> {
    let plan = sqlx::query_scalar!(
        "select given_plan from stripe_customers
         where id = $1 and account_id = $2 and exists (select from jobs where jobs.id = $3 and jobs.claim = $4)
         for no key update",
        customer,
        account.0,
        claim.job,
        claim.id,
    );
    Ok(plan.fetch_optional(db).await?)
}

/// Records a synchronization after its job was completed, and enqueues the next: immediately if the customer has changed
/// meanwhile, otherwise at `look_at`.
pub async fn update_seen(
    db: &mut PgConnection,
    customer: &QueuedCustomer,
    given_plan: Option<&str>,
    look_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let statement = sqlx::query!(
        "with seen as (
             update stripe_customers set seen_revision = $2, given_plan = $3 where id = $1
             returning id, case when revision > $2 then now() else $4 end as look_at
         )
         insert into jobs (id, kind, customer_id, priority, run_at, due)
         select gen_random_uuid(), 'customer', id, 0, look_at, look_at <= now() from seen where look_at is not null",
        customer.id,
        customer.revision,
        given_plan,
        look_at,
    );
    execute(db, statement).await
}

/// Deletes a customer whose account was deleted, with its job and everything that Stripe has reported about it.
pub async fn delete(db: &PgPool, id: &str) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from stripe_customers where id = $1 and account_id is null", id);
    execute(db, delete).await
}

/// Returns the Stripe ids of all customers.
pub async fn list(db: &PgPool) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!("select id from stripe_customers order by id")
        .fetch_all(db)
        .await?)
}
