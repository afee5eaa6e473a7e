//! Tables `stripe_events`, `stripe_differences` and `stripe_reconciliations`: events from Stripe, differences between
//! Stripe and the database, and the days that were compared.

use platen_domain::ids::AccountId;
use sqlx::{PgConnection, PgPool};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// An event as received.
pub struct NewEvent<'a> {
    /// Stripe's id.
    pub id: &'a str,
    pub kind: &'a str,
    /// Stripe's id of the customer. Ignored if no account has this customer.
    pub customer: Option<&'a str>,
    /// Verbatim.
    pub body: &'a str,
    /// When the event happened.
    pub created_at: OffsetDateTime,
}

/// Stores an event. Returns `false` if it was received before.
pub async fn insert(db: &mut PgConnection, event: NewEvent<'_>, now: OffsetDateTime) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into stripe_events (id, kind, customer_id, body, created_at, received_at)
         values ($1, $2, (select id from stripe_customers where id = $3), $4, $5, $6)
         on conflict (id) do nothing",
        event.id,
        event.kind,
        event.customer,
        event.body,
        event.created_at,
        now,
    );
    changes_one(db, insert).await
}

/// Deletes events, differences and comparisons before `time`.
pub async fn delete_before(db: &PgPool, time: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!("delete from stripe_events where received_at < $1", time)
        .execute(db)
        .await?;
    sqlx::query!("delete from stripe_differences where found_at < $1", time)
        .execute(db)
        .await?;
    let delete = sqlx::query!("delete from stripe_reconciliations where day < $1", time.date());
    execute(db, delete).await
}

/// Records a difference for the operator.
pub async fn insert_difference(
    db: &mut PgConnection,
    customer: &str,
    account: Option<AccountId>,
    words: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into stripe_differences (id, customer_id, account_id, words, found_at) values ($1, $2, $3, $4, $5)",
        Uuid::now_v7(),
        customer,
        account.map(|account| account.0),
        words,
        now,
    );
    execute(db, insert).await
}

/// A difference between Stripe and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Stripe's id.
    pub customer: String,
    /// The account, if it is known.
    pub account: Option<AccountId>,
    /// Description.
    pub words: String,
    pub found_at: OffsetDateTime,
}

/// Returns the differences found since `since`, oldest first.
pub async fn list_differences(db: &PgPool, since: OffsetDateTime) -> Result<Vec<Difference>, StoreError> {
    let differences = sqlx::query!(
        "select customer_id, account_id, words, found_at from stripe_differences where found_at >= $1 order by id",
        since,
    )
    .map(|row| Difference {
        customer: row.customer_id,
        account: row.account_id.map(AccountId),
        words: row.words,
        found_at: row.found_at,
    });
    Ok(differences.fetch_all(db).await?)
}

/// Claims the comparison of a day. Returns `false` if another process has claimed it.
pub async fn insert_reconciliation(db: &PgPool, day: Date) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into stripe_reconciliations (day) values ($1) on conflict do nothing",
        day
    );
    changes_one(db, insert).await
}

/// Status of the integration with Stripe, for operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Differences found since a time.
    pub differences: i64,
    /// When the last event was received.
    pub last_event: Option<OffsetDateTime>,
}

/// Counts the differences found since `since`, and returns the time of the last event.
pub async fn measure(db: &PgPool, since: OffsetDateTime) -> Result<Status, StoreError> {
    let status = sqlx::query_as!(
        Status,
        r#"select (select count(*) from stripe_differences where found_at >= $1) as "differences!",
               (select max(received_at) from stripe_events) as last_event"#,
        since,
    );
    Ok(status.fetch_one(db).await?)
}
