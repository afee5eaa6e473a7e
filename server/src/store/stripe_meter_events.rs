//! Table `stripe_meter_events`: what Stripe is told of `overage_uses`. Times are the database's own, as in `jobs`.

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{billing::LEASE, failed_work::kept_error},
    store::error::StoreError,
};

/// Makes an event for each customer and period out of all uses that are older than so many seconds and that no event tells
/// of; with `only`, of this customer.
pub async fn insert_due(db: &PgPool, only: Option<&str>, older_than_seconds: f64) -> Result<(), StoreError> {
    // Rows that somebody else is about to tell of are left to them.
    sqlx::query!(
        "with uses as (
             select render_id, customer_id, period_starts_at, credits, used_at from overage_uses
             where meter_event_id is null and ($1::text is null or customer_id = $1)
                 and used_at <= now() - $2::float8 * interval '1 s'
             for no key update skip locked
         ), events as (
             select gen_random_uuid() as id, customer_id, period_starts_at, sum(credits)::bigint as credits,
                 max(used_at) as used_at
             from uses group by customer_id, period_starts_at
         ), made as (
             insert into stripe_meter_events (id, customer_id, credits, used_at, send_at)
             select id, customer_id, credits, used_at, now() from events
         )
         update overage_uses set meter_event_id = events.id
         from uses join events using (customer_id, period_starts_at)
         where overage_uses.render_id = uses.render_id",
        only,
        older_than_seconds,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// An event that somebody has in hand.
#[derive(Debug, Clone)]
pub struct ClaimedEvent {
    /// By which Stripe knows it.
    pub id: Uuid,
    /// Proves that it is in hand.
    pub claim: Uuid,
    /// Whose it is.
    pub customer: String,
    /// How much was used.
    pub credits: i64,
    /// When.
    pub used_at: OffsetDateTime,
    /// When it was sent first without learning whether it arrived.
    pub in_doubt_since: Option<OffsetDateTime>,
    /// Tries that failed before this one.
    pub failures: i32,
}

/// Takes events that are due; with `only`, all of this customer that nobody has in hand.
pub async fn claim(db: &PgPool, only: Option<&str>, at_most: i64) -> Result<Vec<ClaimedEvent>, StoreError> {
    let events = sqlx::query_as!(
        ClaimedEvent,
        r#"update stripe_meter_events
           set claim = gen_random_uuid(), lease_until = now() + $3::float8 * interval '1 s'
           where id in (
               select id from stripe_meter_events
               where sent_at is null and given_up_at is null and (claim is null or lease_until < now())
                   and (case when $1::text is null then send_at <= now() else customer_id = $1 end)
               order by send_at
               limit $2
               for update skip locked
           )
           returning id, claim as "claim!", customer_id as customer, credits, used_at, in_doubt_since, failures"#,
        only,
        at_most,
        LEASE.as_secs_f64(),
    );
    Ok(events.fetch_all(db).await?)
}

/// What became of an event that was in hand, and why, where Stripe was not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Stripe has it.
    Arrived,
    /// Nobody knows whether Stripe has it; it is sent again.
    InDoubt(String),
    /// Stripe has not taken it this time; it is sent again.
    Refused(String),
    /// It is not sent again.
    GivenUp(String),
}

impl Report {
    /// Why Stripe was not told.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Arrived => None,
            Self::InDoubt(error) | Self::Refused(error) | Self::GivenUp(error) => Some(error),
        }
    }
}

/// Gives an event back. `delay_seconds`: until it is sent again, if it is.
pub async fn release(db: &PgPool, event: &ClaimedEvent, report: &Report, delay_seconds: f64) -> Result<(), StoreError> {
    sqlx::query!(
        "update stripe_meter_events
         set claim = null, lease_until = null, send_at = now() + $3::float8 * interval '1 s',
             sent_at = case when $4::text is null then now() end,
             failed_at = case when $4 is not null then now() end, last_error = $4,
             failures = failures + case when $4 is not null then 1 else 0 end,
             in_doubt_since = coalesce(in_doubt_since, case when $5 then now() end),
             given_up_at = case when $6 then now() end
         where id = $1 and claim = $2",
        event.id,
        event.claim,
        delay_seconds,
        report.error().map(kept_error),
        matches!(report, Report::InDoubt(_)),
        matches!(report, Report::GivenUp(_)),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What a customer has used between two moments, of what Stripe was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldUsage {
    /// The customer.
    pub customer: String,
    /// How much.
    pub credits: i64,
}

/// Everybody who has used anything between two moments, by what Stripe was told.
pub async fn sums(db: &PgPool, from: OffsetDateTime, until: OffsetDateTime) -> Result<Vec<ToldUsage>, StoreError> {
    let sums = sqlx::query_as!(
        ToldUsage,
        r#"select customer_id as customer, sum(credits)::bigint as "credits!" from stripe_meter_events
           where used_at >= $1 and used_at < $2 and sent_at is not null
           group by customer_id order by customer_id"#,
        from,
        until,
    );
    Ok(sums.fetch_all(db).await?)
}

/// Forgets what was told, or given up, before a moment, and the uses that it was about.
pub async fn delete_before(db: &PgPool, moment: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from stripe_meter_events where used_at < $1 and (sent_at is not null or given_up_at is not null)",
        moment,
    )
    .execute(db)
    .await?;
    Ok(())
}
