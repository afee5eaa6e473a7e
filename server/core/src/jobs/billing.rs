//! Collects usage for Stripe, and compares the database with Stripe once a night.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    clock,
    lifecycle::Lifecycle,
    service::{
        Services,
        billing::{overage, reconciliation},
    },
};

/// Short compared with the time for which usage is collected.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The hour (UTC) from which the nightly comparison is due.
const NIGHT: u8 = 3;

/// Runs until the service stops.
pub(super) async fn run(app: &Services, lifecycle: &Lifecycle) {
    let mut compared = None;
    while !lifecycle.is_stopping() {
        let now = clock::now();
        if now.hour() >= NIGHT && compared != Some(now.date()) {
            compared = Some(now.date());
            if let Err(error) = reconciliation::reconcile_nightly(&app.billing, now).await {
                tracing::warn!(%error, "Stripe and the database could not be compared");
            }
        }
        if let Err(error) = overage::collect(&app.billing).await {
            tracing::warn!(%error, "usage could not be collected for Stripe");
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
