//! Parsing of request bodies: as many at once as there are cores, and one for each account, so that a slow body delays
//! only the account that sent it. All but small bodies are parsed off the threads that serve requests.

use std::{num::NonZeroUsize, panic::resume_unwind, sync::Arc, thread::available_parallelism};

use platen_confined::account_queues::{AccountQueues, Turn};
use platen_domain::ids::AccountId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::{Instant, timeout_at},
};

/// Size in bytes up to which a body is parsed at once: an ordinary one costs less than waking another thread.
const SMALL: usize = 128 << 10;

/// Pool of places to parse in. Clones share the places.
#[derive(Clone)]
pub struct Parsers {
    accounts: Arc<AccountQueues>,
    places: Arc<Semaphore>,
}

/// No place became free before the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many request bodies are being parsed")]
pub struct Busy;

impl Default for Parsers {
    /// Creates as many places as there are cores.
    fn default() -> Self {
        Self::new(available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Parsers {
    fn new(places: NonZeroUsize) -> Self {
        Self {
            accounts: Arc::default(),
            places: Arc::new(Semaphore::new(places.get())),
        }
    }

    /// Parses `bytes` bytes when it is the account's turn. Accounts get places in the order of their requests. Dropping
    /// the future while it waits leaves the queue; parsing that has begun keeps its place until it ends.
    ///
    /// # Errors
    /// Returns [`Busy`] if no place became free before the deadline.
    pub async fn run<T: Send + 'static>(
        &self,
        account: AccountId,
        deadline: Instant,
        bytes: usize,
        parse: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        if bytes > SMALL {
            return self.run_apart(account, deadline, parse).await;
        }
        let _place = self.place(account, deadline).await?;
        Ok(parse())
    }

    /// As [`run`](Self::run), for work whose time does not follow from a size: it never runs on the threads that serve
    /// requests.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub async fn run_apart<T: Send + 'static>(
        &self,
        account: AccountId,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let place = self.place(account, deadline).await?;
        let working = spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        Ok(working.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic())))
    }

    async fn place(&self, account: AccountId, deadline: Instant) -> Result<(OwnedSemaphorePermit, Turn), Busy> {
        let place = async {
            let turn = self.accounts.wait(account.0).await.ok()?;
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            Some((place, turn))
        };
        timeout_at(deadline, place).await.ok().flatten().ok_or(Busy)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    const LARGE: usize = SMALL + 1;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    #[tokio::test]
    async fn one_of_each_account_and_so_many_in_all() {
        let parsers = Parsers::new(NonZeroUsize::new(2).expect("not zero"));
        let (slow, other, third) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
        let (finish_slow, slow_waits) = mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let running = tokio::spawn({
            let parsers = parsers.clone();
            async move {
                let work = move || {
                    begun.send(()).expect("awaited");
                    slow_waits.recv()
                };
                parsers.run(slow, later(), LARGE, work).await
            }
        });
        has_begun.await.expect("it begins");
        assert_eq!(
            parsers.run(slow, soon(), LARGE, || 1).await,
            Err(Busy),
            "the account has its turn already"
        );
        assert_eq!(
            parsers.run(other, later(), LARGE, || 2).await,
            Ok(2),
            "there is another place"
        );
        let (finish_other, other_waits) = mpsc::channel::<()>();
        let second = parsers.run(other, later(), LARGE, move || other_waits.recv());
        tokio::pin!(second);
        tokio::select! {
            biased; // The first one takes the place.
            _ = &mut second => panic!("it has not been released"),
            third = parsers.run(third, soon(), LARGE, || 3) => assert_eq!(third, Err(Busy), "both places are taken"),
        }
        finish_other.send(()).expect("it waits");
        assert_eq!(second.await, Ok(Ok(())));
        finish_slow.send(()).expect("it waits");
        assert_eq!(running.await.expect("no panic"), Ok(Ok(())));
        assert_eq!(parsers.run(slow, later(), LARGE, || 4).await, Ok(4));
    }

    #[tokio::test]
    async fn only_large_bodies_are_parsed_on_another_thread() {
        let (parsers, here) = (Parsers::default(), std::thread::current().id());
        for (bytes, is_here) in [(SMALL, true), (LARGE, false)] {
            let parsing = parsers.run(AccountId::generate(), later(), bytes, || std::thread::current().id());
            assert_eq!(parsing.await.map(|thread| thread == here), Ok(is_here), "{bytes}");
        }
    }

    #[tokio::test]
    async fn what_has_begun_keeps_its_place_when_its_client_goes_away() {
        let parsers = Parsers::new(NonZeroUsize::MIN);
        let account = AccountId::generate();
        let (finish, waits) = mpsc::channel::<()>();
        let abandoned = tokio::time::timeout(
            Duration::from_millis(50),
            parsers.run(account, later(), LARGE, move || waits.recv()),
        );
        assert!(abandoned.await.is_err());
        assert_eq!(parsers.run(AccountId::generate(), soon(), LARGE, || 1).await, Err(Busy));
        finish.send(()).expect("it waits");
        assert_eq!(parsers.run(account, later(), LARGE, || 2).await, Ok(2));
    }
}
