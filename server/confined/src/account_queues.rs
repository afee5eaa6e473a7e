//! Per-account queues: tasks of an account run one at a time, so that slow tasks delay only the account that sent
//! them.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// Accounts with running or waiting tasks, each with a semaphore of one permit.
#[derive(Debug, Default)]
pub struct AccountQueues {
    accounts: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// An account's turn, waiting or running. Dropping the last turn of an account removes the account.
#[derive(Debug)]
pub struct Turn {
    queues: Arc<AccountQueues>,
    account: Uuid,
    semaphore: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl AccountQueues {
    /// Waits until no other task of the account is running. Tasks are admitted in order of arrival. Never fails in
    /// practice, because the semaphores are never closed.
    pub async fn wait(self: &Arc<Self>, account: Uuid) -> io::Result<Turn> {
        let semaphore = Arc::clone(
            self.accounts()
                .entry(account)
                .or_insert_with(|| Arc::new(Semaphore::new(1))),
        );
        let mut turn = Turn {
            queues: Arc::clone(self),
            account,
            semaphore: Some(Arc::clone(&semaphore)),
            permit: None,
        };
        turn.permit = Some(semaphore.acquire_owned().await.map_err(io::Error::other)?);
        Ok(turn)
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Semaphore>>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop((self.permit.take(), self.semaphore.take()));
        let mut accounts = self.queues.accounts();
        if accounts
            .get(&self.account)
            .is_some_and(|semaphore| Arc::strong_count(semaphore) == 1)
        {
            accounts.remove(&self.account);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn an_account_waits_for_itself_only_and_is_forgotten() -> io::Result<()> {
        let queues = Arc::new(AccountQueues::default());
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = queues.wait(one).await?;
        let second = queues.wait(other).await?;
        let third = tokio::time::timeout(Duration::from_millis(1), queues.wait(one)).await;
        assert!(third.is_err(), "two tasks of the same account ran");
        drop(first);
        drop(queues.wait(one).await?);
        drop(second);
        assert!(queues.accounts().is_empty());
        Ok(())
    }
}
