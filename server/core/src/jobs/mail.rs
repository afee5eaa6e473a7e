//! Sends mail as it becomes due.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    lifecycle::Lifecycle,
    service::{Services, mail},
};

/// New mail doesn't wake this task: a second doesn't matter to it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until the service stops and the mails in progress are sent.
pub(super) async fn run(app: &Services, lifecycle: &Lifecycle) {
    while !lifecycle.is_stopping() {
        match mail::send_due(&app.mailing).await {
            Ok(1..) => continue,
            Ok(0) => {}
            Err(error) => tracing::warn!(%error, "due mail could not be processed"),
        }
        let _ = timeout(LOOK_EVERY, lifecycle.stopping()).await;
    }
}
