//! Table `stripe_meter_events`: reports of `overage_uses` to Stripe. A trigger inserts the job of an event.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// Inserts one event for each customer and period, from all uses that are older than `older_than_seconds` and not part
/// of an event yet. With `only`, just for that customer.
pub async fn insert_due(db: &PgPool, only: Option<&str>, older_than_seconds: f64) -> Result<(), StoreError> {
    // Rows that another process is adding to an event are skipped.
    let statement = sqlx::query!(
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
             insert into stripe_meter_events (id, customer_id, credits, used_at)
             select id, customer_id, credits, used_at from events
         )
         update overage_uses set meter_event_id = events.id
         from uses join events using (customer_id, period_starts_at)
         where overage_uses.render_id = uses.render_id",
        only,
        older_than_seconds,
    );
    execute(db, statement).await
}

/// An event that is to be sent.
#[derive(Debug, Clone)]
pub struct QueuedEvent {
    /// Identifies the event to Stripe, which counts it once.
    pub id: Uuid,
    /// Stripe's id of the customer.
    pub customer: String,
    pub credits: i64,
    /// Time of the latest use.
    pub used_at: OffsetDateTime,
    /// When it was first sent without learning whether it arrived.
    pub in_doubt_since: Option<OffsetDateTime>,
}

/// Returns an event that is to be sent.
pub async fn find(db: &PgPool, id: Uuid) -> Result<Option<QueuedEvent>, StoreError> {
    let event = sqlx::query_as!(
        QueuedEvent,
        "select id, customer_id as customer, credits, used_at, in_doubt_since from stripe_meter_events
         where id = $1 and sent_at is null and given_up_at is null",
        id,
    );
    Ok(event.fetch_optional(db).await?)
}

/// Outcome of an attempt to send an event, with the error if it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Stripe has accepted it.
    Arrived,
    /// It is unknown whether Stripe has accepted it; it is sent again.
    InDoubt(String),
    /// Stripe hasn't accepted it; it is sent again.
    Refused(String),
    /// It isn't sent again.
    GivenUp(String),
}

impl Report {
    /// Returns the error of a failed attempt.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Arrived => None,
            Self::InDoubt(error) | Self::Refused(error) | Self::GivenUp(error) => Some(error),
        }
    }
}

/// Records the outcome of an attempt to send an event.
pub async fn update_reported(db: &mut PgConnection, id: Uuid, report: &Report) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update stripe_meter_events
         set sent_at = case when $2 then now() end, given_up_at = case when $3 then now() end,
             in_doubt_since = coalesce(in_doubt_since, case when $4 then now() end)
         where id = $1",
        id,
        matches!(report, Report::Arrived),
        matches!(report, Report::GivenUp(_)),
        matches!(report, Report::InDoubt(_)),
    );
    execute(db, update).await
}

/// Usage of a customer that was reported to Stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedUsage {
    /// Stripe's id.
    pub customer: String,
    pub credits: i64,
}

/// Returns the reported usage between `from` and `until` (exclusive) of each customer that has any.
pub async fn sums(db: &PgPool, from: OffsetDateTime, until: OffsetDateTime) -> Result<Vec<ReportedUsage>, StoreError> {
    let sums = sqlx::query_as!(
        ReportedUsage,
        r#"select customer_id as customer, sum(credits)::bigint as "credits!" from stripe_meter_events
           where used_at >= $1 and used_at < $2 and sent_at is not null
           group by customer_id order by customer_id"#,
        from,
        until,
    );
    Ok(sums.fetch_all(db).await?)
}

/// Deletes events, and the uses that they cover, that were sent or given up and whose latest use was before `moment`.
pub async fn delete_before(db: &PgPool, moment: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from stripe_meter_events where used_at < $1 and (sent_at is not null or given_up_at is not null)",
        moment,
    );
    execute(db, delete).await
}
