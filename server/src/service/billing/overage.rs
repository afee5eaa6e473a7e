//! What accounts use beyond their credits, and that Stripe is told of it.
//!
//! The transaction that charges a render writes down what of it is paid for by use. A minute later all of a customer's
//! becomes one event, whose identifier stands fast before it is sent first: Stripe counts it once, however often it is sent
//! within a day. What nobody knows after that time is not sent again: rather something is not paid for than twice.

use futures::future::join_all;
use platen_billing::{client::StripeError, metering::MeterEvent};
use time::{Duration, OffsetDateTime};

use crate::{
    clock,
    domain::billing,
    service::billing::{Billing, BillingError, Till},
    store::{
        error::StoreError,
        offers, stripe_events,
        stripe_meter_events::{self, ClaimedEvent, Report},
        tx,
    },
};

/// What is used meanwhile becomes one event.
const GATHERED_FOR: Duration = Duration::minutes(1);
/// Events that a process has in hand at once.
const AT_ONCE: i64 = 4;
/// Stripe knows identifiers for a day at least.
const KNOWN_FOR: Duration = Duration::hours(23);
/// Stripe takes what was used in the last 35 days.
const TAKEN_FOR: Duration = Duration::days(34);
/// What was told is kept for so long.
const KEPT: Duration = Duration::days(90);

/// Tells what is due. Says of how many events.
pub async fn tell_due(billing: &Billing) -> Result<usize, StoreError> {
    let Some(till) = &billing.till else { return Ok(0) };
    stripe_meter_events::insert_due(&billing.db, None, GATHERED_FOR.as_seconds_f64()).await?;
    let claimed = stripe_meter_events::claim(&billing.db, None, AT_ONCE).await?;
    let told = join_all(claimed.iter().map(|event| tell(billing, till, event)));
    told.await.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(claimed.len())
}

/// Tells everything that a customer has used, before nobody can be told any more. What fails is logged.
pub(super) async fn tell_all_of(billing: &Billing, till: &Till, customer: &str) -> Result<(), StoreError> {
    stripe_meter_events::insert_due(&billing.db, Some(customer), 0.0).await?;
    for event in stripe_meter_events::claim(&billing.db, Some(customer), i64::MAX).await? {
        tell(billing, till, &event).await?;
    }
    Ok(())
}

async fn tell(billing: &Billing, till: &Till, event: &ClaimedEvent) -> Result<(), StoreError> {
    let now = clock::now();
    let forgotten = event.in_doubt_since.is_some_and(|since| since < now - KNOWN_FOR);
    if forgotten || event.used_at < now - TAKEN_FOR {
        return give_up(billing, event, forgotten, now).await;
    }
    let sent = MeterEvent {
        identifier: &event.id.to_string(),
        customer: &event.customer,
        credits: event.credits,
        used_at: event.used_at,
    };
    let report = match till.stripe.report_usage(&sent).await {
        Ok(()) => Report::Arrived,
        Err(error) => {
            tracing::warn!(event = %event.id, customer = event.customer, %error, "Stripe was not told what was used");
            match error {
                StripeError::Unreachable(_) => Report::InDoubt,
                StripeError::Refused { .. }
                | StripeError::NotFound(_)
                | StripeError::Declined(_)
                | StripeError::Settings(_) => Report::Refused,
            }
        }
    };
    let delay = billing::delay(event.failures, rand::random());
    stripe_meter_events::release(&billing.db, event, report, delay.as_secs_f64()).await
}

/// The operator has to look.
async fn give_up(
    billing: &Billing,
    event: &ClaimedEvent,
    forgotten: bool,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let why = if forgotten {
        "Stripe did not say for a day whether it was told"
    } else {
        "Stripe could not be told for 34 days"
    };
    let words = format!(
        "{} credits beyond the plan, used until {}, event {}: {why}. Look at the meter, and report what is missing there",
        event.credits, event.used_at, event.id
    );
    tracing::error!(customer = event.customer, words, "what was used is not told any more");
    let mut transaction = tx::begin(&billing.db).await?;
    stripe_events::insert_difference(&mut transaction, &event.customer, None, &words, now).await?;
    tx::commit(transaction).await?;
    stripe_meter_events::release(&billing.db, event, Report::GivenUp, 0.0).await
}

/// Compares what Stripe has counted of the day before, in UTC, with what it was told. What differs is written down.
pub(super) async fn reconcile(billing: &Billing, till: &Till, now: OffsetDateTime) -> Result<(), BillingError> {
    let Some(metered) = offers::find_overage(&billing.db).await?.metered else {
        return Ok(());
    };
    let until = now.date().midnight().assume_utc();
    let from = until - Duration::DAY;
    let mut differences = Vec::new();
    for told in stripe_meter_events::sums(&billing.db, from, until).await? {
        let counted = till
            .stripe
            .counted_usage(&metered.meter, &told.customer, from, until)
            .await?;
        if counted != told.credits {
            let words = format!(
                "{} credits were used beyond the plan on {}, and Stripe has counted {counted}",
                told.credits,
                from.date()
            );
            tracing::warn!(customer = told.customer, words, "Stripe and the database differ");
            differences.push((told.customer, words));
        }
    }
    let mut transaction = tx::begin(&billing.db).await?;
    for (customer, words) in differences {
        stripe_events::insert_difference(&mut transaction, &customer, None, &words, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Forgets what is too old.
pub(super) async fn purge(billing: &Billing, now: OffsetDateTime) -> Result<(), StoreError> {
    stripe_meter_events::delete_before(&billing.db, now - KEPT).await
}
