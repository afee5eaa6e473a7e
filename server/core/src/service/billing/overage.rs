//! Reports overage to Stripe.
//!
//! The transaction that charges a render records its overage. After a minute, all overage of a customer becomes one
//! meter event, whose identifier is fixed before it is first sent: Stripe counts it once, however often it is sent
//! within a day. An event that is still unconfirmed after that is not sent again, because an unpaid credit is better
//! than a double charge.

use platen_billing::{client::StripeError, metering::MeterEvent};
use platen_domain::job::JobKind;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    clock,
    service::billing::{Billing, BillingError, Till},
    store::{
        error::StoreError,
        jobs::{self, Claim},
        offers, stripe_events,
        stripe_meter_events::{self, QueuedEvent, Report},
        tx,
    },
};

/// Time for which overage is collected into one meter event.
const GATHERED_FOR: Duration = Duration::minutes(1);
/// Time for which an event may be sent again. Stripe deduplicates identifiers for at least a day.
const KNOWN_FOR: Duration = Duration::hours(23);
/// Maximum age of usage in a report. Stripe accepts the last 35 days.
const TAKEN_FOR: Duration = Duration::days(34);
/// Retention of reported events.
const KEPT: Duration = Duration::days(90);

/// Turns overage that has been collected for a minute into meter events.
pub async fn collect(billing: &Billing) -> Result<(), StoreError> {
    stripe_meter_events::insert_due(&billing.db, None, GATHERED_FOR.as_seconds_f64()).await
}

/// Reports all usage of a customer before it is deleted. Failures to report are logged.
pub(super) async fn report_all_of(billing: &Billing, customer: &str) -> Result<(), StoreError> {
    stripe_meter_events::insert_due(&billing.db, Some(customer), 0.0).await?;
    let mut after = Uuid::nil();
    while let Some((claim, event)) = jobs::claim_usage(&billing.db, customer, after).await? {
        send(billing, &claim, event).await?;
        after = claim.job;
    }
    Ok(())
}

/// Sends the meter event of a claimed job.
pub async fn send(billing: &Billing, claim: &Claim, event: Uuid) -> Result<(), StoreError> {
    let Some(event) = stripe_meter_events::find(&billing.db, event).await? else {
        jobs::complete(&billing.db, claim).await?;
        return Ok(());
    };
    let report = report(billing, &event, clock::now()).await;
    let mut transaction = tx::begin(&billing.db).await?;
    stripe_meter_events::update_reported(&mut transaction, event.id, &report).await?;
    let held = match report.error() {
        None => jobs::complete(&mut *transaction, claim).await?,
        Some(error) => {
            tracing::warn!(event = %event.id, customer = event.customer, error, "overage could not be reported to Stripe");
            let delay = match report {
                Report::GivenUp(_) => None,
                _ => JobKind::Usage.delay(claim.failures, rand::random()),
            };
            jobs::release(&mut *transaction, claim, delay, Some(error)).await?
        }
    };
    if held {
        tx::commit(transaction).await?;
    }
    Ok(())
}

async fn report(billing: &Billing, event: &QueuedEvent, now: OffsetDateTime) -> Report {
    let till = match billing.till() {
        Ok(till) => till,
        Err(error) => return Report::Refused(error.to_string()),
    };
    if event.in_doubt_since.is_some_and(|since| since < now - KNOWN_FOR) {
        let words =
            "Stripe did not confirm this usage within a day. Check its meter: if the usage is missing there, try again";
        return Report::GivenUp(words.to_owned());
    }
    if event.used_at < now - TAKEN_FOR {
        return Report::GivenUp(
            "This usage could not be reported for 34 days; Stripe no longer accepts it. Send an invoice instead"
                .to_owned(),
        );
    }
    let sent = MeterEvent {
        identifier: &event.id.to_string(),
        customer: &event.customer,
        credits: event.credits,
        used_at: event.used_at,
    };
    match till.stripe.report_usage(&sent).await {
        Ok(()) => Report::Arrived,
        Err(error @ StripeError::Unreachable(_)) => Report::InDoubt(error.to_string()),
        Err(error) => Report::Refused(error.to_string()),
    }
}

/// Compares the usage that Stripe counted on the previous day, in UTC, with what was reported. Differences are
/// recorded.
pub(super) async fn reconcile(billing: &Billing, till: &Till, now: OffsetDateTime) -> Result<(), BillingError> {
    let Some(metered) = offers::find_overage(&billing.db).await?.metered else {
        return Ok(());
    };
    let until = now.date().midnight().assume_utc();
    let from = until - Duration::DAY;
    let mut differences = Vec::new();
    for reported in stripe_meter_events::sums(&billing.db, from, until).await? {
        let counted = till
            .stripe
            .counted_usage(&metered.meter, &reported.customer, from, until)
            .await?;
        if counted != reported.credits {
            let words = format!(
                "{} overage credits were used on {}, but Stripe counted {counted}",
                reported.credits,
                from.date()
            );
            tracing::warn!(customer = reported.customer, words, "Stripe and the database differ");
            differences.push((reported.customer, words));
        }
    }
    let mut transaction = tx::begin(&billing.db).await?;
    for (customer, words) in differences {
        stripe_events::insert_difference(&mut transaction, &customer, None, &words, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Deletes reported events past their retention.
pub(super) async fn purge(billing: &Billing, now: OffsetDateTime) -> Result<(), StoreError> {
    stripe_meter_events::delete_before(&billing.db, now - KEPT).await
}
