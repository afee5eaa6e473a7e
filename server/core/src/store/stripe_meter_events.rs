//! Table `stripe_meter_events`: reports of `overage_uses` to Stripe. Times come from the database's clock, as in
//! `jobs`.

use platen_domain::{billing::LEASE, failed_jobs::kept_error};
use sqlx::PgPool;
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
             insert into stripe_meter_events (id, customer_id, credits, used_at, send_at)
             select id, customer_id, credits, used_at, now() from events
         )
         update overage_uses set meter_event_id = events.id
         from uses join events using (customer_id, period_starts_at)
         where overage_uses.render_id = uses.render_id",
        only,
        older_than_seconds,
    );
    execute(db, statement).await
}

/// An event that a worker holds.
#[derive(Debug, Clone)]
pub struct ClaimedEvent {
    /// Identifies the event to Stripe, which counts it once.
    pub id: Uuid,
    /// Identifies the claim.
    pub claim: Uuid,
    /// Stripe's id of the customer.
    pub customer: String,
    pub credits: i64,
    /// Time of the latest use.
    pub used_at: OffsetDateTime,
    /// When it was first sent without learning whether it arrived.
    pub in_doubt_since: Option<OffsetDateTime>,
    /// Failed attempts before this one.
    pub failures: i32,
}

/// Claims events that are due; with `only`, all events of that customer that no worker holds.
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

/// Releases an event and records the outcome. `delay_seconds` is the time until it is sent again, if it is.
pub async fn release(db: &PgPool, event: &ClaimedEvent, report: &Report, delay_seconds: f64) -> Result<(), StoreError> {
    let update = sqlx::query!(
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
