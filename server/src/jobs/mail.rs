//! Sends mail as it becomes due.

use std::time::Duration;

use tokio::time::timeout;

use crate::{lifecycle::Lifecycle, service::mail, state::AppState};

/// Nobody is told of new mail: a second more or less makes no difference to it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Until the service stops, and what is in hand is sent.
pub(super) async fn run(app: &AppState, lifecycle: &Lifecycle) {
    while !lifecycle.is_stopping() {
        match mail::send_due(&app.mailing).await {
            Ok(1..) => continue,
            Ok(0) => {}
            Err(error) => tracing::warn!(%error, "mail could not be looked after"),
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
