//! Turns of accounts whose whole documents the dashboard or the API compares or reads.

use std::{sync::Arc, time::Duration};

use platen_confined::turns::{Turn, Turns};
use platen_domain::ids::AccountId;
use tokio::time::timeout;

use crate::service::parsers::Busy;

/// Time for which a turn is waited for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Lets each account compare or read one document at a time, so that many don't take all of its slots and memory. Clones
/// share the queues.
#[derive(Debug, Clone, Default)]
pub struct DocumentTurns(Arc<Turns>);

impl DocumentTurns {
    /// Waits for the account's turn, for a minute at most.
    pub(in crate::service) async fn wait(&self, account: AccountId) -> Result<Turn, Busy> {
        let turn = timeout(LONGEST_WAIT, self.0.wait(account.0)).await;
        turn.ok().and_then(Result::ok).ok_or(Busy)
    }
}
