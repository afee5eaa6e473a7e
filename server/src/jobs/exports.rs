//! Makes archives of accounts, one after the other.

use std::time::Duration;

use tokio::time::timeout;

use crate::{lifecycle::Lifecycle, service::exports, state::AppState};

/// Nobody is told of a new one: some seconds more or less make no difference to a mail.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Until the service stops, and what is in hand is given back.
pub(super) async fn run(app: &AppState, lifecycle: &Lifecycle) {
    while !lifecycle.is_stopping() {
        let stopping = lifecycle.clone();
        match exports::make_next(app, move || stopping.is_stopping()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "archives of accounts could not be looked after"),
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
