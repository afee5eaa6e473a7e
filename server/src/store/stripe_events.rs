//! Tables `stripe_events` and `stripe_differences`: what Stripe has told, and what it has not.

use sqlx::{PgConnection, PgPool};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::{domain::ids::AccountId, store::error::StoreError};

/// An event as it came.
pub struct NewEvent<'a> {
    /// Stripe's.
    pub id: &'a str,
    /// What it tells.
    pub kind: &'a str,
    /// Whom it is about, if it is a customer of ours.
    pub customer: Option<&'a str>,
    /// Word for word.
    pub body: &'a str,
    /// When that was.
    pub created_at: OffsetDateTime,
}

/// Keeps an event. `false`: it has come before.
pub async fn insert(db: &mut PgConnection, event: NewEvent<'_>, now: OffsetDateTime) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into stripe_events (id, kind, customer_id, body, created_at, received_at)
         values ($1, $2, (select id from stripe_customers where id = $3), $4, $5, $6)
         on conflict (id) do nothing",
        event.id,
        event.kind,
        event.customer,
        event.body,
        event.created_at,
        now,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Forgets what came before a time.
pub async fn delete_before(db: &PgPool, time: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!("delete from stripe_events where received_at < $1", time)
        .execute(db)
        .await?;
    sqlx::query!("delete from stripe_differences where found_at < $1", time)
        .execute(db)
        .await?;
    sqlx::query!("delete from stripe_reconciliations where day < $1", time.date())
        .execute(db)
        .await?;
    Ok(())
}

/// Writes down something for the operator.
pub async fn insert_difference(
    db: &mut PgConnection,
    customer: &str,
    account: Option<AccountId>,
    words: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into stripe_differences (id, customer_id, account_id, words, found_at) values ($1, $2, $3, $4, $5)",
        Uuid::now_v7(),
        customer,
        account.map(|account| account.0),
        words,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Something for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Of Stripe.
    pub customer: String,
    /// Of ours, if it is known.
    pub account: Option<AccountId>,
    /// What it is.
    pub words: String,
    /// When it was found.
    pub found_at: OffsetDateTime,
}

/// What was found since a time, the oldest first.
pub async fn list_differences(db: &PgPool, since: OffsetDateTime) -> Result<Vec<Difference>, StoreError> {
    let rows = sqlx::query!(
        "select customer_id, account_id, words, found_at from stripe_differences where found_at >= $1 order by id",
        since,
    )
    .fetch_all(db)
    .await?;
    let differences = rows.into_iter().map(|row| Difference {
        customer: row.customer_id,
        account: row.account_id.map(AccountId),
        words: row.words,
        found_at: row.found_at,
    });
    Ok(differences.collect())
}

/// Takes the comparison of a day upon oneself. `false`: somebody else has.
pub async fn insert_reconciliation(db: &PgPool, day: Date) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into stripe_reconciliations (day) values ($1) on conflict do nothing",
        day
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// What the operator is told of Stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Differences that were found since a time.
    pub differences: i64,
    /// When the last event came.
    pub last_event: Option<OffsetDateTime>,
}

/// Counts the differences that were found since a time, and asks when Stripe has told of something last.
pub async fn measure(db: &PgPool, since: OffsetDateTime) -> Result<Told, StoreError> {
    let told = sqlx::query_as!(
        Told,
        r#"select (select count(*) from stripe_differences where found_at >= $1) as "differences!",
               (select max(received_at) from stripe_events) as last_event"#,
        since,
    );
    Ok(told.fetch_one(db).await?)
}
