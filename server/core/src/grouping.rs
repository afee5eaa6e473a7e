//! Work on the database that arrives at nearly the same time is done together, so that a busy process needs few transactions. On an
//! idle one, it waits a millisecond for others to join.

use std::{
    fmt::Display,
    mem,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::{Notify, oneshot},
    time::timeout,
};

use crate::{mutex::lock, store::statement::LONGEST_STATEMENTS};

/// Maximum number of items in a group, whose rows are locked together.
const MOST: usize = 64;
/// Time in which a group forms that follows no other: jobs that are claimed together arrive within it.
const FIRST: Duration = Duration::from_millis(1);
/// The same of a group that follows another. Each group costs the database as much as several of its items.
const FOLLOWING: Duration = Duration::from_millis(40);
/// The same for items of which only the throughput matters: ten documents a second need few groups, too.
const FOLLOWING_PATIENTLY: Duration = Duration::from_millis(250);

/// Groups items of one kind. Cheap to clone.
pub(crate) struct Grouping<Item, Outcome, Error> {
    waiting: Arc<Mutex<Waiting<Item, Outcome, Error>>>,
    /// Notified when there are enough items.
    enough: Arc<Notify>,
    following: Duration,
}

struct Waiting<Item, Outcome, Error> {
    items: Vec<(Item, oneshot::Sender<Processed<Outcome, Error>>)>,
    /// Whether the items are processed without a further delay.
    are_enough: bool,
    /// Whether a task processes the items.
    is_running: bool,
}

/// The outcome of an item. Without an error, a group of several failed, and any of them may be the cause.
type Processed<Outcome, Error> = Result<Outcome, Option<Error>>;

impl<Item, Outcome, Error> Grouping<Item, Outcome, Error>
where
    Item: Clone + Send + 'static,
    Outcome: Default + Send + 'static,
    Error: Display + Send + 'static,
{
    /// Returns a grouping for items of which only the throughput matters: its groups form in a longer time.
    pub(crate) fn patient() -> Self {
        Self {
            following: FOLLOWING_PATIENTLY,
            ..Self::default()
        }
    }

    /// Lets `work` process the item, alone or in a group, and returns its outcome. `work` receives the context, such as a connection
    /// pool, and items, and returns their outcomes in the same order; if it fails for a group, it gets each item alone. A group is
    /// processed even if the returned future is dropped.
    pub(crate) async fn process<Context, Work, Processing>(
        &self,
        context: &Context,
        item: Item,
        work: Work,
    ) -> Result<Outcome, Error>
    where
        Context: Clone + Send + 'static,
        Work: Fn(Context, Vec<Item>) -> Processing + Copy + Send + 'static,
        Processing: Future<Output = Result<Vec<Outcome>, Error>> + Send + 'static,
    {
        self.process_from(usize::MAX, |_| true, context, item, work).await
    }

    /// Like [`Self::process`], but the group forms only until it has `enough` items that are `like` this one, itself included.
    pub(crate) async fn process_from<Context, Work, Processing>(
        &self,
        enough: usize,
        like: impl Fn(&Item) -> bool,
        context: &Context,
        item: Item,
        work: Work,
    ) -> Result<Outcome, Error>
    where
        Context: Clone + Send + 'static,
        Work: Fn(Context, Vec<Item>) -> Processing + Copy + Send + 'static,
        Processing: Future<Output = Result<Vec<Outcome>, Error>> + Send + 'static,
    {
        let (sender, processed) = oneshot::channel();
        let is_running = {
            let mut waiting = lock(&self.waiting);
            waiting.items.push((item.clone(), sender));
            let are_enough = || waiting.items.iter().filter(|(item, _)| like(item)).count() >= enough;
            if waiting.items.len() >= MOST || are_enough() {
                waiting.are_enough = true;
                self.enough.notify_one();
            }
            mem::replace(&mut waiting.is_running, true)
        };
        if !is_running {
            let (grouping, context) = (self.clone(), context.clone());
            tokio::spawn(grouping.run(move |items| work(context.clone(), items)));
        }
        match processed.await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(Some(error))) => Err(error),
            // Without an answer, the work has panicked, or took too long.
            Ok(Err(None)) | Err(_) => {
                let mut outcomes = work(context.clone(), vec![item]).await?;
                Ok(outcomes.pop().unwrap_or_default())
            }
        }
    }

    /// Processes groups until no items are waiting.
    async fn run<Work, Processing>(self, work: Work)
    where
        Work: Fn(Vec<Item>) -> Processing,
        Processing: Future<Output = Result<Vec<Outcome>, Error>> + Send + 'static,
    {
        let mut forming = FIRST;
        loop {
            // A notification may be that of an earlier group.
            let formed = async {
                while !lock(&self.waiting).are_enough {
                    self.enough.notified().await;
                }
            };
            let _ = timeout(mem::replace(&mut forming, self.following), formed).await;
            let group: Vec<_> = {
                let mut waiting = lock(&self.waiting);
                if waiting.items.is_empty() {
                    waiting.is_running = false;
                    return;
                }
                let size = waiting.items.len().min(MOST);
                waiting.are_enough = waiting.items.len() - size >= MOST;
                waiting.items.drain(..size).collect()
            };
            let (items, senders): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            // In a task of its own: a panic must not affect the items that follow, nor must a connection that was lost.
            let mut working = tokio::spawn(work(items));
            match timeout(LONGEST_STATEMENTS, &mut working).await {
                Ok(Ok(outcomes)) => answer(senders, outcomes),
                Ok(Err(panic)) => tracing::error!(%panic, "work on a group panicked"),
                Err(_) => {
                    working.abort();
                    tracing::warn!("work on a group takes too long; it is processed one by one");
                }
            }
        }
    }
}

fn answer<Outcome, Error: Display>(
    senders: Vec<oneshot::Sender<Processed<Outcome, Error>>>,
    outcomes: Result<Vec<Outcome>, Error>,
) {
    // Receivers may be gone.
    match outcomes {
        Ok(outcomes) => {
            for (sender, outcome) in senders.into_iter().zip(outcomes) {
                let _ = sender.send(Ok(outcome));
            }
        }
        Err(error) => {
            let is_alone = senders.len() == 1;
            if !is_alone {
                tracing::info!(%error, "a group is processed one by one");
            }
            let mut error = Some(error).filter(|_| is_alone);
            for sender in senders {
                let _ = sender.send(Err(error.take()));
            }
        }
    }
}

impl<Item, Outcome, Error> Clone for Grouping<Item, Outcome, Error> {
    fn clone(&self) -> Self {
        Self {
            waiting: Arc::clone(&self.waiting),
            enough: Arc::clone(&self.enough),
            following: self.following,
        }
    }
}

impl<Item, Outcome, Error> Default for Grouping<Item, Outcome, Error> {
    fn default() -> Self {
        let waiting = Waiting {
            items: Vec::new(),
            are_enough: false,
            is_running: false,
        };
        Self {
            waiting: Arc::new(Mutex::new(waiting)),
            enough: Arc::default(),
            following: FOLLOWING,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tokio::{
        sync::Semaphore,
        time::{Instant, sleep},
    };

    use super::*;

    /// Returns each item with the size of its group. Groups with an item of 100 or more fail.
    fn sized(items: Vec<usize>) -> Result<Vec<(usize, usize)>, String> {
        if items.iter().any(|item| *item >= 100) {
            return Err(format!("{items:?}"));
        }
        let size = items.len();
        Ok(items.into_iter().map(|item| (item, size)).collect())
    }

    /// Processes items that all arrive while the first is processed.
    async fn outcomes(items: impl IntoIterator<Item = usize>) -> Vec<Result<(usize, usize), String>> {
        let (grouping, gate) = (Grouping::default(), Arc::new(Semaphore::new(0)));
        let work = |gate: Arc<Semaphore>, items| async move {
            gate.acquire().await.expect("an open gate").forget();
            sized(items)
        };
        let first = tokio::spawn({
            let (grouping, gate) = (grouping.clone(), Arc::clone(&gate));
            async move { grouping.process(&gate, 0, work).await }
        });
        while !lock(&grouping.waiting).is_running || !lock(&grouping.waiting).items.is_empty() {
            sleep(FIRST).await;
        }
        let others = items.into_iter().map(|item| grouping.process(&gate, item, work));
        let others: Vec<_> = others.collect();
        let count = others.len();
        let arrived = async {
            while lock(&grouping.waiting).items.len() < count {
                sleep(FIRST).await;
            }
            gate.add_permits(1_000);
        };
        let (others, ()) = tokio::join!(join_all(others), arrived);
        assert_eq!(first.await.expect("no panic"), Ok((0, 1)));
        others
    }

    #[tokio::test(start_paused = true)]
    async fn items_that_arrive_meanwhile_form_the_next_groups() {
        let outcomes = outcomes(1..=MOST + 1).await;
        let items: Vec<_> = outcomes
            .iter()
            .map(|outcome| outcome.as_ref().map(|(item, _)| *item))
            .collect();
        assert_eq!(items, (1..=MOST + 1).map(Ok).collect::<Vec<_>>());
        let sizes: Vec<_> = outcomes
            .iter()
            .map(|outcome| outcome.as_ref().map(|(_, size)| *size))
            .collect();
        assert!(sizes[..MOST].iter().all(|size| *size == Ok(MOST)));
        assert_eq!(sizes[MOST], Ok(1));
    }

    #[tokio::test(start_paused = true)]
    async fn one_item_does_not_fail_the_others_of_its_group() {
        let outcomes = outcomes([1, 100, 2]).await;
        assert_eq!(outcomes, [Ok((1, 1)), Err("[100]".to_owned()), Ok((2, 1))]);
    }

    #[tokio::test(start_paused = true)]
    async fn patient_groups_form_until_they_have_enough_items_of_a_kind() {
        let patient = Grouping::patient;
        for (grouping, enough, size, is_patient) in [
            (Grouping::default(), 3, 1, false),
            (patient(), 3, 2, true),
            // The second item is of another kind.
            (patient(), 2, 2, true),
            (patient(), 1, 1, false),
        ] {
            let process = |item: usize| {
                let is_like = move |other: &usize| other % 2 == item % 2;
                grouping.process_from(enough, is_like, &(), item, |(), items| async { sized(items) })
            };
            assert_eq!(process(0).await, Ok((0, 1)));
            let started = Instant::now();
            let later = async {
                sleep(FOLLOWING + FIRST).await;
                process(2).await
            };
            assert_eq!(tokio::join!(process(1), later), (Ok((1, size)), Ok((2, size))));
            assert_eq!(started.elapsed() >= FOLLOWING_PATIENTLY, is_patient, "{enough}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_is_large_enough_does_not_shorten_the_wait_of_the_next() {
        let grouping = Grouping::patient();
        let process =
            |enough, item| grouping.process_from(enough, |_| true, &(), item, |(), items| async { sized(items) });
        let started = Instant::now();
        assert_eq!(tokio::join!(process(2, 0), process(2, 1)), (Ok((0, 2)), Ok((1, 2))));
        assert!(started.elapsed() < FIRST);
        assert_eq!(process(MOST, 2).await, Ok((2, 1)));
        assert!(started.elapsed() >= FOLLOWING_PATIENTLY);
    }

    #[tokio::test]
    async fn items_are_processed_after_a_panic() {
        let grouping = Grouping::<_, (usize, usize), String>::default();
        let panicking = |(), items: Vec<usize>| async move {
            assert!(items.is_empty(), "on purpose");
            Ok(Vec::new())
        };
        let panicked = tokio::spawn({
            let grouping = grouping.clone();
            async move { grouping.process(&(), 1, panicking).await }
        });
        assert!(panicked.await.is_err());
        assert_eq!(
            grouping.process(&(), 2, |(), items| async { sized(items) }).await,
            Ok((2, 1))
        );
    }
}
