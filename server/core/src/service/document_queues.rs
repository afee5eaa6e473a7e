//! Per-account queues of operations on whole documents: comparisons, reading their structure, collecting them, and loading files
//! with the rows of batches.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use platen_confined::account_queues::{AccountQueues, Turn};
use platen_domain::ids::AccountId;
use tokio::{task::unconstrained, time::timeout};

use crate::service::parsers::Busy;

/// Maximum time in a queue.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Lets each account run one operation on documents at a time, so that many don't take all of its slots and memory. Clones
/// share the queues.
#[derive(Debug, Clone, Default)]
pub struct DocumentQueues(Arc<AccountQueues>);

impl DocumentQueues {
    /// Waits for the account's turn. Fails after a minute.
    pub(in crate::service) async fn wait(&self, account: AccountId) -> Result<Turn, Busy> {
        let turn = timeout(LONGEST_WAIT, self.0.wait(account.0)).await;
        turn.ok().and_then(Result::ok).ok_or(Busy)
    }

    /// Returns the account's turn; `None` while an operation of the account is running.
    pub(in crate::service) fn try_begin(&self, account: AccountId) -> Option<Turn> {
        // Ready unless it has to wait, however much the task has done before.
        unconstrained(self.0.wait(account.0)).now_or_never()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_account_waits_a_minute_for_its_turn() {
        let queues = DocumentQueues::default();
        let [one, other] = [1, 2].map(|number| AccountId(Uuid::from_u128(number)));
        let first = queues.wait(one).await.expect("a turn");
        queues.wait(other).await.expect("the turn of another account");
        assert_eq!(queues.wait(one).await.expect_err("a second turn"), Busy);
        assert!(queues.try_begin(one).is_none());
        assert!(queues.try_begin(other).is_some());
        drop(first);
        assert!(queues.try_begin(one).is_some());
        queues.wait(one).await.expect("the next turn");
    }
}
