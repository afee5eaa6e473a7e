//! Updates customers after Stripe events and at due times, reports their usage to Stripe, and compares the database
//! with Stripe once a night.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    clock,
    lifecycle::Lifecycle,
    service::{
        Services,
        billing::{mirror, overage, reconciliation},
    },
};

/// Short compared with the latency of Stripe's events.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The hour (UTC) from which the nightly comparison is due.
const NIGHT: u8 = 3;

/// Runs until the service stops. Returns at once if nothing is for sale.
pub(super) async fn run(app: &Services, lifecycle: &Lifecycle) {
    if app.billing.till.is_none() {
        return;
    }
    let mut compared = None;
    while !lifecycle.is_stopping() {
        let now = clock::now();
        if now.hour() >= NIGHT && compared != Some(now.date()) {
            compared = Some(now.date());
            if let Err(error) = reconciliation::reconcile_nightly(&app.billing, now).await {
                tracing::warn!(%error, "Stripe and the database could not be compared");
            }
        }
        let looked = mirror::look_at_due(&app.billing).await.inspect_err(|error| {
            tracing::warn!(%error, "customers could not be updated from Stripe");
        });
        let notifications = overage::report_due(&app.billing).await.inspect_err(|error| {
            tracing::warn!(%error, "usage could not be reported to Stripe");
        });
        if looked.unwrap_or(0) + notifications.unwrap_or(0) > 0 {
            continue;
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
