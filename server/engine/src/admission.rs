//! Who renders next: a bounded queue, fair between accounts.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::error::RenderError;
use crate::job::{Caller, Lane};
use crate::snapshot::LaneSnapshot;

const LANES: usize = Lane::ALL.len();

/// Hands out slots. A free slot goes to the first lane in which somebody waits; inside a lane accounts take turns, and
/// inside an account it is first come, first served.
///
/// Beyond the slots that every render may have there are spare ones. Only a render whose caller waits, of an account that
/// has no slot, gets one of them: however long the renders of one account take, others have theirs meanwhile.
#[derive(Clone)]
pub(crate) struct Admission {
    state: Arc<Mutex<State>>,
}

/// The right to render. Dropping it hands the slot on.
pub(crate) struct Slot {
    admission: Admission,
    account: Uuid,
    /// Given up after the slot. A further slot of a render has none, and neither has a render in the background.
    _place: Option<Place>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.admission.give_back(self.account);
    }
}

struct State {
    slots: Slots,
    waiting: usize,
    waiting_limit: usize,
    closed: bool,
    lanes: [FairQueue; LANES],
    /// Renders running or waiting whose callers wait, by account.
    under_way: HashMap<Uuid, usize>,
}

/// The slots, and who has them.
struct Slots {
    regular: usize,
    spare: usize,
    taken: usize,
    by_account: HashMap<Uuid, usize>,
}

#[derive(Default)]
struct FairQueue {
    /// Accounts with somebody waiting, in the order in which they are served.
    turns: VecDeque<Uuid>,
    waiting: HashMap<Uuid, VecDeque<Grant>>,
}

/// A slot that somebody waits for.
struct Grant {
    sender: oneshot::Sender<()>,
    since: Instant,
}

/// What is under way now.
pub(crate) struct Load {
    /// Slots that there are, spare ones too.
    pub(crate) slots: usize,
    /// Slots that are taken.
    pub(crate) running: usize,
    /// Slots that somebody waits for.
    pub(crate) waiting: usize,
}

impl State {
    /// Counts a render whose caller waits, or refuses it.
    fn count(&mut self, caller: Caller, lane: Lane) -> Result<(), RenderError> {
        let under_way = self.under_way.get(&caller.account).copied().unwrap_or(0);
        if under_way >= caller.concurrency {
            return Err(RenderError::TooManyConcurrent {
                limit: caller.concurrency,
            });
        }
        if !self.slots.may_take(caller.account, lane) && self.waiting >= self.waiting_limit {
            return Err(RenderError::QueueFull);
        }
        self.under_way.insert(caller.account, under_way + 1);
        Ok(())
    }

    /// Takes a free slot, or a turn.
    fn take_or_wait(&mut self, account: Uuid, lane: Lane) -> Option<oneshot::Receiver<()>> {
        if self.slots.may_take(account, lane) {
            self.slots.take(account);
            return None;
        }
        self.waiting += 1;
        Some(self.lanes[lane as usize].push(account))
    }

    /// Takes the first render out of the queue that may have a slot now.
    fn pop(&mut self) -> Option<(Uuid, Grant)> {
        let mut lanes = Lane::ALL.into_iter().zip(&mut self.lanes);
        lanes.find_map(|(lane, queue)| queue.pop(|account| self.slots.may_take(account, lane)))
    }
}

impl Slots {
    fn may_take(&self, account: Uuid, lane: Lane) -> bool {
        let may_have_spare = lane != Lane::Background && !self.by_account.contains_key(&account);
        self.taken < self.regular || (may_have_spare && self.taken < self.regular + self.spare)
    }

    fn take(&mut self, account: Uuid) {
        self.taken += 1;
        *self.by_account.entry(account).or_default() += 1;
    }

    fn release(&mut self, account: Uuid) {
        self.taken -= 1;
        decrement(&mut self.by_account, account);
    }
}

/// Takes one from a count, which goes with its last one.
fn decrement(counts: &mut HashMap<Uuid, usize>, account: Uuid) {
    if let Entry::Occupied(mut count) = counts.entry(account) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

impl Admission {
    pub(crate) fn new(slots: usize, spare: usize, waiting_limit: usize) -> Self {
        let state = State {
            slots: Slots {
                regular: slots,
                spare,
                taken: 0,
                by_account: HashMap::new(),
            },
            waiting: 0,
            waiting_limit,
            closed: false,
            lanes: std::array::from_fn(|_| FairQueue::default()),
            under_way: HashMap::new(),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Waits for a slot. Above the account's own concurrency, or with a full queue, the answer is immediate. Neither holds
    /// for renders in the background: whoever starts them knows how many there are, and nobody waits for them.
    pub(crate) async fn enter(&self, caller: Caller, lane: Lane) -> Result<Slot, RenderError> {
        let (place, turn) = {
            let mut state = self.lock();
            if state.closed {
                return Err(RenderError::ShuttingDown);
            }
            let place = match lane {
                Lane::Preview | Lane::Synchronous => {
                    state.count(caller, lane)?;
                    Some(Place {
                        admission: self.clone(),
                        account: caller.account,
                    })
                }
                Lane::Background => None,
            };
            (place, state.take_or_wait(caller.account, lane))
        };
        self.wait(caller.account, turn).await?;
        Ok(Slot {
            admission: self.clone(),
            account: caller.account,
            _place: place,
        })
    }

    /// Waits for a further slot for a render that has entered. It is no render of its own, and the queue is never too
    /// full for it.
    pub(crate) async fn enter_again(&self, account: Uuid, lane: Lane) -> Result<Slot, RenderError> {
        let turn = {
            let mut state = self.lock();
            if state.closed {
                return Err(RenderError::ShuttingDown);
            }
            state.take_or_wait(account, lane)
        };
        self.wait(account, turn).await?;
        Ok(Slot {
            admission: self.clone(),
            account,
            _place: None,
        })
    }

    /// Waits for the turn; without one the slot is there already.
    async fn wait(&self, account: Uuid, turn: Option<oneshot::Receiver<()>>) -> Result<(), RenderError> {
        let Some(turn) = turn else { return Ok(()) };
        let mut waiting = Waiting {
            admission: self.clone(),
            account,
            turn,
        };
        (&mut waiting.turn).await.map_err(|_| RenderError::ShuttingDown)
    }

    /// Refuses everybody from now on, also those who wait.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for lane in &mut state.lanes {
            lane.turns.clear();
            lane.waiting.clear();
        }
        state.waiting = 0;
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            slots: state.slots.regular + state.slots.spare,
            running: state.slots.taken,
            waiting: state.waiting,
        }
    }

    /// How many renders can wait, and who does, by lane.
    pub(crate) fn snapshot(&self) -> (usize, [LaneSnapshot; LANES]) {
        let state = self.lock();
        let lanes = Lane::ALL.map(|lane| state.lanes[lane as usize].snapshot(lane));
        (state.waiting_limit, lanes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, account: Uuid) {
        decrement(&mut self.lock().under_way, account);
    }

    /// Takes a slot from an account, and hands out what is free then.
    fn give_back(&self, account: Uuid) {
        let mut state = self.lock();
        state.slots.release(account);
        while let Some((account, next)) = state.pop() {
            // Those who gave up while waiting are passed over: they have taken themselves off the count.
            if next.sender.send(()).is_ok() {
                state.waiting -= 1;
                state.slots.take(account);
            }
        }
    }
}

/// A place among the account's renders, with or without a slot.
struct Place {
    admission: Admission,
    account: Uuid,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.leave(self.account);
    }
}

/// Somebody in a queue, who may give up at any moment.
struct Waiting {
    admission: Admission,
    account: Uuid,
    turn: oneshot::Receiver<()>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.turn.is_terminated() {
            return;
        }
        let mut state = self.admission.lock();
        self.turn.close();
        match self.turn.try_recv() {
            // Given up in the very moment in which the slot came: on to the next.
            Ok(()) => {
                drop(state);
                self.admission.give_back(self.account);
            }
            Err(_) if state.closed => {}
            Err(_) => state.waiting -= 1,
        }
    }
}

impl FairQueue {
    fn push(&mut self, account: Uuid) -> oneshot::Receiver<()> {
        let (grant, turn) = oneshot::channel();
        let queue = self.waiting.entry(account).or_default();
        if queue.is_empty() {
            self.turns.push_back(account);
        }
        queue.push_back(Grant {
            sender: grant,
            since: Instant::now(),
        });
        turn
    }

    /// The next one, of an account that may have a slot; the others keep their turns.
    fn pop(&mut self, may_take: impl Fn(Uuid) -> bool) -> Option<(Uuid, Grant)> {
        while let Some(turn) = self.turns.iter().position(|account| may_take(*account)) {
            let account = self.turns.remove(turn)?;
            let Some(queue) = self.waiting.get_mut(&account) else {
                continue;
            };
            // Those who gave up do not use up their account's turn.
            queue.retain(Grant::is_wanted);
            let grant = queue.pop_front();
            if queue.is_empty() {
                self.waiting.remove(&account);
            } else {
                self.turns.push_back(account);
            }
            if let Some(grant) = grant {
                return Some((account, grant));
            }
        }
        None
    }

    fn snapshot(&self, lane: Lane) -> LaneSnapshot {
        let mut snapshot = LaneSnapshot {
            lane,
            waiting: 0,
            accounts: 0,
            oldest: None,
        };
        for queue in self.waiting.values() {
            let mut wanted = queue.iter().filter(|grant| grant.is_wanted()).peekable();
            if let Some(first) = wanted.peek() {
                snapshot.oldest = snapshot.oldest.max(Some(first.since.elapsed()));
                snapshot.accounts += 1;
                snapshot.waiting += wanted.count();
            }
        }
        snapshot
    }
}

impl Grant {
    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool {
        !self.sender.is_closed()
    }
}

#[cfg(test)]
mod tests;
