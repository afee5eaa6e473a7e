//! Reports overage to Stripe.
//!
//! The transaction that charges a render records its overage. After a minute, all overage of a customer becomes one
//! meter event, whose identifier is fixed before it is first sent: Stripe counts it once, however often it is sent
//! within a day. An event that is still unconfirmed after that is not sent again, because an unpaid credit is better
//! than a double charge.

use futures::future::join_all;
use platen_billing::{client::StripeError, metering::MeterEvent};
use platen_domain::billing;
use time::{Duration, OffsetDateTime};

use crate::{
    clock,
    service::billing::{Billing, BillingError, Till},
    store::{
        error::StoreError,
        offers, stripe_events,
        stripe_meter_events::{self, ClaimedEvent, Report},
        tx,
    },
};

/// Time for which overage is collected into one meter event.
const GATHERED_FOR: Duration = Duration::minutes(1);
/// Meter events that a process claims at once.
const AT_ONCE: i64 = 4;
/// Time for which an event may be sent again. Stripe deduplicates identifiers for at least a day.
const KNOWN_FOR: Duration = Duration::hours(23);
/// Maximum age of usage in a report. Stripe accepts the last 35 days.
const TAKEN_FOR: Duration = Duration::days(34);
/// Retention of reported events.
const KEPT: Duration = Duration::days(90);

/// Reports up to four meter events that are due. Returns their number.
pub async fn report_due(billing: &Billing) -> Result<usize, StoreError> {
    let Some(till) = &billing.till else { return Ok(0) };
    stripe_meter_events::insert_due(&billing.db, None, GATHERED_FOR.as_seconds_f64()).await?;
    let claimed = stripe_meter_events::claim(&billing.db, None, AT_ONCE).await?;
    let sent = join_all(claimed.iter().map(|event| send(billing, till, event)));
    sent.await.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(claimed.len())
}

/// Reports all usage of a customer before it is deleted. Failures to report are logged.
pub(super) async fn report_all_of(billing: &Billing, till: &Till, customer: &str) -> Result<(), StoreError> {
    stripe_meter_events::insert_due(&billing.db, Some(customer), 0.0).await?;
    for event in stripe_meter_events::claim(&billing.db, Some(customer), i64::MAX).await? {
        send(billing, till, &event).await?;
    }
    Ok(())
}

async fn send(billing: &Billing, till: &Till, event: &ClaimedEvent) -> Result<(), StoreError> {
    let report = report(till, event, clock::now()).await;
    if let Some(error) = report.error() {
        tracing::warn!(event = %event.id, customer = event.customer, error, "overage could not be reported to Stripe");
    }
    let delay = billing::delay(event.failures, rand::random());
    stripe_meter_events::release(&billing.db, event, &report, delay.as_secs_f64()).await
}

async fn report(till: &Till, event: &ClaimedEvent, now: OffsetDateTime) -> Report {
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
