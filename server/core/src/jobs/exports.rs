//! Creates exports of accounts, one after the other.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    lifecycle::Lifecycle,
    service::{Services, exports},
};

/// Requests for exports don't wake this task: some seconds don't matter to a mail.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Runs until the service stops, and releases the export in progress.
pub(super) async fn run(app: &Services, lifecycle: &Lifecycle) {
    while !lifecycle.is_stopping() {
        let stopping = lifecycle.clone();
        match exports::make_next(app, move || stopping.is_stopping()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "account exports could not be processed"),
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
