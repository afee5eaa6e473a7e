//! Looks at customers when Stripe has told of something or something is due, tells Stripe what they use, and compares
//! everything once a night.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    clock,
    lifecycle::Lifecycle,
    service::billing::{mirror, overage, reconciliation},
    state::AppState,
};

/// Stripe takes longer to tell.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The hour (UTC) from which on the night's comparison is due.
const NIGHT: u8 = 3;

/// Until the service stops.
pub(super) async fn run(app: &AppState, lifecycle: &Lifecycle) {
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
            tracing::warn!(%error, "customers could not be looked at");
        });
        let told = overage::tell_due(&app.billing).await.inspect_err(|error| {
            tracing::warn!(%error, "Stripe could not be told what was used");
        });
        if looked.unwrap_or(0) + told.unwrap_or(0) > 0 {
            continue;
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
