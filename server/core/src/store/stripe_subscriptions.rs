//! Tables `stripe_subscriptions` and `stripe_purchases`: the state of customers at Stripe as of the last
//! synchronization.

use platen_domain::{
    billing::{PaidProduct, Subscription},
    ids::AccountId,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::changes_one};

struct SubscriptionRow {
    id: String,
    status: String,
    product: String,
    anchor: OffsetDateTime,
    period_ends_at: OffsetDateTime,
    cancel_at: Option<OffsetDateTime>,
    kept_product: Option<String>,
    kept_until: Option<OffsetDateTime>,
    unpaid_since: Option<OffsetDateTime>,
    overage_limit: i64,
    created_at: OffsetDateTime,
}

impl From<SubscriptionRow> for Subscription {
    fn from(row: SubscriptionRow) -> Self {
        Self {
            id: row.id,
            status: row.status,
            product: row.product,
            anchor: row.anchor,
            period_ends_at: row.period_ends_at,
            cancel_at: row.cancel_at,
            kept: row
                .kept_product
                .zip(row.kept_until)
                .map(|(product, until)| PaidProduct { product, until }),
            unpaid_since: row.unpaid_since,
            overage_limit: row.overage_limit,
            created_at: row.created_at,
        }
    }
}

/// Returns all subscriptions that an account has ever had.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<Subscription>, StoreError> {
    let subscriptions = sqlx::query_as!(
        SubscriptionRow,
        "select subscriptions.id, status, product, anchor, period_ends_at, cancel_at, kept_product, kept_until,
             unpaid_since, subscriptions.overage_limit, created_at
         from stripe_subscriptions as subscriptions
         join stripe_customers as customers on customers.id = subscriptions.customer_id
         where customers.account_id = $1
         order by subscriptions.id",
        account.0,
    )
    .map(Subscription::from);
    Ok(subscriptions.fetch_all(db).await?)
}

/// Returns all subscriptions of a customer.
pub async fn list_of_customer(db: &mut PgConnection, customer: &str) -> Result<Vec<Subscription>, StoreError> {
    let subscriptions = sqlx::query_as!(
        SubscriptionRow,
        "select id, status, product, anchor, period_ends_at, cancel_at, kept_product, kept_until, unpaid_since,
             overage_limit, created_at
         from stripe_subscriptions
         where customer_id = $1
         order by id",
        customer,
    )
    .map(Subscription::from);
    Ok(subscriptions.fetch_all(db).await?)
}

/// Replaces all stored subscriptions of a customer.
pub async fn replace(db: &mut PgConnection, customer: &str, subscriptions: &[Subscription]) -> Result<(), StoreError> {
    sqlx::query!("delete from stripe_subscriptions where customer_id = $1", customer)
        .execute(&mut *db)
        .await?;
    for one in subscriptions {
        let kept = one.kept.as_ref();
        sqlx::query!(
            "insert into stripe_subscriptions
                 (id, customer_id, status, product, anchor, period_ends_at, cancel_at, kept_product, kept_until,
                  unpaid_since, overage_limit, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            one.id,
            customer,
            one.status,
            one.product,
            one.anchor,
            one.period_ends_at,
            one.cancel_at,
            kept.map(|kept| kept.product.as_str()),
            kept.map(|kept| kept.until),
            one.unpaid_since,
            one.overage_limit,
            one.created_at,
        )
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// A purchase of credits.
#[derive(Debug)]
pub struct Purchase {
    /// Id of the Stripe Checkout session.
    pub id: String,
    /// Number of credits bought.
    pub credits: i64,
    /// Number of credits refunded.
    pub refunded: i64,
    pub ordered_at: OffsetDateTime,
}

/// Stores a customer's purchase. Returns `false` if it is already stored.
pub async fn insert_purchase(db: &mut PgConnection, customer: &str, purchase: &Purchase) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into stripe_purchases (id, customer_id, credits, refunded, ordered_at) values ($1, $2, $3, $4, $5)
         on conflict (id) do nothing",
        purchase.id,
        customer,
        purchase.credits,
        purchase.refunded,
        purchase.ordered_at,
    );
    changes_one(db, insert).await
}

/// Stores how many credits of a purchase are refunded. Returns how many of them weren't at the last synchronization.
pub async fn update_refunded(db: &mut PgConnection, customer: &str, purchase: &Purchase) -> Result<i64, StoreError> {
    let more = sqlx::query_scalar!(
        r#"with known as (select id, refunded from stripe_purchases where id = $1 and customer_id = $2 for update)
           update stripe_purchases set refunded = $3
           from known
           where stripe_purchases.id = known.id and known.refunded < $3
           returning $3 - known.refunded as "more!""#,
        purchase.id,
        customer,
        purchase.refunded,
    );
    Ok(more.fetch_optional(db).await?.unwrap_or_default())
}
