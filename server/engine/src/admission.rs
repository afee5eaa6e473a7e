//! Admission of renders: a bounded queue, fair between accounts.

use std::{
    array,
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use strum::VariantArray;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use uuid::Uuid;

use crate::error::RenderError;
use crate::job::{Caller, Lane};
use crate::snapshot::LaneSnapshot;

const LANES: usize = Lane::VARIANTS.len();
/// How long background renders leave a core free after a synchronous render: its caller is likely to send the next one.
const AFTER_SYNCHRONOUS: Duration = Duration::from_millis(200);

/// Grants slots. A free slot goes to the first lane with a waiting render; within a lane, accounts take turns; within
/// an account, renders are served in order of arrival.
///
/// Besides regular slots there are spare slots. Only a render whose caller waits, of an account that holds no slot,
/// gets one: however long the renders of one account take, other accounts can render meanwhile.
///
/// By default there is one slot more than cores, so that none is idle. While callers wait for renders, background renders
/// leave two slots, which is one core, to them: otherwise each would share its core with the others all the time.
#[derive(Clone)]
pub(crate) struct Admission {
    state: Arc<Mutex<State>>,
}

/// The right to render. Dropping it passes the slot to the next waiting render.
pub(crate) struct Slot {
    admission: Admission,
    account: Uuid,
    lane: Lane,
    /// Released after the slot. `None` for further slots of a render and for background renders, which aren't counted.
    _place: Option<Place>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.admission.give_back(self.account, self.lane);
    }
}

struct State {
    slots: Slots,
    waiting: usize,
    /// Those of them in the background, which the limit does not apply to.
    background_waiting: usize,
    waiting_limit: usize,
    closed: bool,
    lanes: [FairQueue; LANES],
    /// Number of renders by account, running or waiting, whose callers wait.
    under_way: HashMap<Uuid, usize>,
}

/// The slots and the accounts that hold them.
struct Slots {
    regular: usize,
    spare: usize,
    taken: usize,
    /// Those of them that background renders hold.
    background: usize,
    /// When a synchronous render last ended.
    synchronous_at: Option<Instant>,
    by_account: HashMap<Uuid, usize>,
}

#[derive(Default)]
struct FairQueue {
    /// Accounts with waiting renders, in the order in which they are served.
    turns: VecDeque<Uuid>,
    waiting: HashMap<Uuid, VecDeque<Grant>>,
}

/// The sending half of a waiting render's turn.
struct Grant {
    sender: oneshot::Sender<()>,
    since: Instant,
}

/// Numbers of slots and of waiting renders.
pub(crate) struct Load {
    /// Total number of slots, spare ones included.
    pub(crate) slots: usize,
    /// Slots that are taken.
    pub(crate) running: usize,
    /// Renders and further parts that wait for a slot.
    pub(crate) waiting: usize,
}

impl State {
    /// Counts a render whose caller waits. Refuses it if the account has reached its concurrency, or if it would have
    /// to wait in a full queue.
    fn count(&mut self, caller: Caller, lane: Lane) -> Result<(), RenderError> {
        let under_way = self.under_way.get(&caller.account).copied().unwrap_or(0);
        if under_way >= caller.concurrency {
            return Err(RenderError::TooManyConcurrent {
                limit: caller.concurrency,
            });
        }
        let callers_waiting = self.waiting - self.background_waiting;
        if !self.slots.may_take(caller.account, lane) && callers_waiting >= self.waiting_limit {
            return Err(RenderError::QueueFull);
        }
        self.under_way.insert(caller.account, under_way + 1);
        Ok(())
    }

    /// Takes a free slot and returns `None`, or queues the account and returns its turn.
    fn take_or_wait(&mut self, account: Uuid, lane: Lane) -> Option<oneshot::Receiver<()>> {
        if self.slots.may_take(account, lane) {
            self.slots.take(account, lane);
            return None;
        }
        self.waiting += 1;
        self.background_waiting += usize::from(lane == Lane::Background);
        Some(self.lanes[lane as usize].push(account))
    }

    /// Removes the first waiting render that may take a slot now.
    fn pop(&mut self) -> Option<(Uuid, Lane, Grant)> {
        let mut lanes = Lane::VARIANTS.iter().zip(&mut self.lanes);
        lanes.find_map(|(&lane, queue)| {
            let (account, grant) = queue.pop(|account| self.slots.may_take(account, lane))?;
            Some((account, lane, grant))
        })
    }

    /// Assigns free slots to waiting renders.
    fn grant(&mut self) {
        while let Some((account, lane, next)) = self.pop() {
            // Cancelled renders are skipped: they have decremented `waiting` themselves.
            if next.sender.send(()).is_ok() {
                self.no_longer_waits(lane);
                self.slots.take(account, lane);
            }
        }
    }

    fn no_longer_waits(&mut self, lane: Lane) {
        self.waiting -= 1;
        self.background_waiting -= usize::from(lane == Lane::Background);
    }
}

impl Slots {
    fn may_take(&self, account: Uuid, lane: Lane) -> bool {
        if lane == Lane::Background {
            return self.taken < self.regular && self.background < self.background_limit();
        }
        let may_have_spare = !self.by_account.contains_key(&account);
        self.taken < self.regular || (may_have_spare && self.taken < self.regular + self.spare)
    }

    /// Returns how many slots background renders may hold at present: at least one, so that they always go on.
    fn background_limit(&self) -> usize {
        let is_next_likely = self
            .synchronous_at
            .is_some_and(|time| time.elapsed() < AFTER_SYNCHRONOUS);
        if is_next_likely || self.taken > self.background {
            self.regular.saturating_sub(2).max(1)
        } else {
            self.regular
        }
    }

    fn take(&mut self, account: Uuid, lane: Lane) {
        self.taken += 1;
        self.background += usize::from(lane == Lane::Background);
        *self.by_account.entry(account).or_default() += 1;
    }

    fn release(&mut self, account: Uuid, lane: Lane) {
        self.taken -= 1;
        match lane {
            Lane::Background => self.background -= 1,
            Lane::Synchronous => self.synchronous_at = Some(Instant::now()),
            Lane::Preview => {}
        }
        decrement(&mut self.by_account, account);
    }
}

/// Decrements the account's count, removing it at zero.
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
                background: 0,
                synchronous_at: None,
                by_account: HashMap::new(),
            },
            waiting: 0,
            background_waiting: 0,
            waiting_limit,
            closed: false,
            lanes: std::array::from_fn(|_| FairQueue::default()),
            under_way: HashMap::new(),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Waits for a slot. Fails at once if the account has reached its concurrency or the queue is full. Neither limit
    /// applies to background renders: the background worker limits their number, and no client waits for them.
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
        self.wait(caller.account, lane, turn).await?;
        Ok(Slot {
            admission: self.clone(),
            account: caller.account,
            lane,
            _place: place,
        })
    }

    /// Waits for a further slot for a render that has entered. It doesn't count as a render of the account, and the
    /// queue limit doesn't apply to it.
    pub(crate) async fn enter_again(&self, account: Uuid, lane: Lane) -> Result<Slot, RenderError> {
        let turn = {
            let mut state = self.lock();
            if state.closed {
                return Err(RenderError::ShuttingDown);
            }
            state.take_or_wait(account, lane)
        };
        self.wait(account, lane, turn).await?;
        Ok(Slot {
            admission: self.clone(),
            account,
            lane,
            _place: None,
        })
    }

    /// Waits for `turn`; `None` means that a slot was taken already.
    async fn wait(&self, account: Uuid, lane: Lane, turn: Option<oneshot::Receiver<()>>) -> Result<(), RenderError> {
        let Some(turn) = turn else { return Ok(()) };
        let mut waiting = Waiting {
            admission: self.clone(),
            account,
            lane,
            turn,
        };
        loop {
            tokio::select! {
                turn = &mut waiting.turn => return turn.map_err(|_| RenderError::ShuttingDown),
                // More slots may be for background renders than when one was last released.
                () = sleep(AFTER_SYNCHRONOUS), if lane == Lane::Background => self.lock().grant(),
            }
        }
    }

    /// Refuses all renders from now on, including those that wait.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for lane in &mut state.lanes {
            lane.turns.clear();
            lane.waiting.clear();
        }
        state.waiting = 0;
        state.background_waiting = 0;
    }

    /// Returns how many slots background renders may hold at present.
    pub(crate) fn background_limit(&self) -> usize {
        self.lock().slots.background_limit()
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            slots: state.slots.regular + state.slots.spare,
            running: state.slots.taken,
            waiting: state.waiting,
        }
    }

    /// Returns the queue limit and the state of each lane.
    pub(crate) fn snapshot(&self) -> (usize, [LaneSnapshot; LANES]) {
        let state = self.lock();
        let lanes = array::from_fn(|lane| state.lanes[lane].snapshot(Lane::VARIANTS[lane]));
        (state.waiting_limit, lanes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, account: Uuid) {
        decrement(&mut self.lock().under_way, account);
    }

    /// Releases a slot of an account and assigns free slots to waiting renders.
    fn give_back(&self, account: Uuid, lane: Lane) {
        let mut state = self.lock();
        state.slots.release(account, lane);
        state.grant();
    }
}

/// Counts as one of the account's renders, waiting or running, until dropped.
struct Place {
    admission: Admission,
    account: Uuid,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.leave(self.account);
    }
}

/// A render in the queue, which may be cancelled at any moment.
struct Waiting {
    admission: Admission,
    account: Uuid,
    lane: Lane,
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
            // Cancelled just when the slot was assigned: pass it on.
            Ok(()) => {
                drop(state);
                self.admission.give_back(self.account, self.lane);
            }
            Err(_) if state.closed => {}
            Err(_) => state.no_longer_waits(self.lane),
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

    /// Removes the next render of an account that may take a slot; the others retain their turns.
    fn pop(&mut self, may_take: impl Fn(Uuid) -> bool) -> Option<(Uuid, Grant)> {
        while let Some(turn) = self.turns.iter().position(|account| may_take(*account)) {
            let account = self.turns.remove(turn)?;
            let Some(queue) = self.waiting.get_mut(&account) else {
                continue;
            };
            // Cancelled renders don't use up their account's turn.
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
    /// Returns whether the render still waits.
    fn is_wanted(&self) -> bool {
        !self.sender.is_closed()
    }
}

#[cfg(test)]
mod tests;
