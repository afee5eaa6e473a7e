//! Memory reservations of requests, counted in one place: bodies, data derived from them, and documents until they are
//! sent.
//!
//! An account may reserve no more than it leaves free for all others: alone, half of the budget; with one other
//! account, a third each. So some memory remains for the next account, however many others reserve all that they may.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use platen_domain::ids::AccountId;
use tokio::{sync::oneshot, time::timeout};

/// How long a request waits for memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// The memory budget of all requests of this process; cheap to clone.
#[derive(Clone)]
pub struct MemoryBudget(Arc<Mutex<State>>);

/// Memory reserved by one request; released on drop.
pub struct Reservation {
    budget: MemoryBudget,
    account: AccountId,
    bytes: u64,
}

/// Too little memory is left for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the service's memory for requests is full: {wanted_mb} MB were needed")]
pub struct MemoryFull {
    wanted_mb: u64,
}

/// Usage of the memory budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryStatus {
    /// In bytes.
    pub total: u64,
    /// Reserved, in bytes.
    pub held: u64,
    /// Number of requests that wait for memory.
    pub waiting: usize,
}

struct State {
    total: u64,
    held: u64,
    /// Bytes by account, of accounts with reservations.
    by_account: HashMap<AccountId, u64>,
    /// Accounts with waiting requests, in the order in which they are served.
    turns: VecDeque<AccountId>,
    waiting: HashMap<AccountId, VecDeque<Waiter>>,
}

struct Waiter {
    bytes: u64,
    granted: oneshot::Sender<Reservation>,
}

impl MemoryBudget {
    /// Creates a budget of `total` bytes.
    pub fn new(total: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            total,
            held: 0,
            by_account: HashMap::new(),
            turns: VecDeque::new(),
            waiting: HashMap::new(),
        })))
    }

    /// Reserves `bytes` for a request of the account. Waits up to ten seconds, taking turns with other accounts.
    pub async fn reserve(&self, account: AccountId, bytes: u64) -> Result<Reservation, MemoryFull> {
        let granted = {
            let mut state = self.lock();
            if !state.waiting.contains_key(&account) && state.fits(account, bytes) {
                return Ok(self.grant(&mut state, account, bytes));
            }
            let (sender, granted) = oneshot::channel();
            state.wait(account, Waiter { bytes, granted: sender });
            granted
        };
        match timeout(PATIENCE, granted).await {
            Ok(Ok(reservation)) => Ok(reservation),
            _ => Err(MemoryFull::of(bytes)),
        }
    }

    /// Reserves `bytes` without waiting.
    pub fn try_reserve(&self, account: AccountId, bytes: u64) -> Result<Reservation, MemoryFull> {
        let mut state = self.lock();
        if state.fits(account, bytes) {
            Ok(self.grant(&mut state, account, bytes))
        } else {
            Err(MemoryFull::of(bytes))
        }
    }

    pub fn status(&self) -> MemoryStatus {
        let state = self.lock();
        MemoryStatus {
            total: state.total,
            held: state.held,
            waiting: state.waiting.values().map(VecDeque::len).sum(),
        }
    }

    fn grant(&self, state: &mut State, account: AccountId, bytes: u64) -> Reservation {
        state.add(account, bytes);
        Reservation {
            budget: self.clone(),
            account,
            bytes,
        }
    }

    /// Grants memory to waiting requests, one per account in turn, until no request fits.
    fn serve(&self, mut state: MutexGuard<'_, State>) {
        // Dropped after the lock is released, because releasing a reservation takes it.
        let mut unwanted = Vec::new();
        let mut passed_over = 0;
        while passed_over < state.turns.len() {
            let Some(account) = state.turns.pop_front() else { break };
            let Some(waiter) = state.next_of(account) else { continue };
            if waiter.granted.is_closed() {
                passed_over = 0;
            } else if state.fits(account, waiter.bytes) {
                let reservation = self.grant(&mut state, account, waiter.bytes);
                unwanted.extend(waiter.granted.send(reservation).err());
                passed_over = 0;
            } else {
                state.put_back(account, waiter);
                passed_over += 1;
            }
            if state.waiting.contains_key(&account) {
                state.turns.push_back(account);
            }
        }
        drop(state);
        drop(unwanted);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns whether the account may reserve `bytes` more. If nothing is reserved, one request may take everything.
    fn fits(&self, account: AccountId, bytes: u64) -> bool {
        let held = self.by_account.get(&account).copied().unwrap_or(0);
        let free = self.total.saturating_sub(self.held).checked_sub(bytes);
        free.is_some_and(|left| self.held == 0 || held + bytes <= left)
    }

    fn add(&mut self, account: AccountId, bytes: u64) {
        if bytes > 0 {
            self.held += bytes;
            *self.by_account.entry(account).or_default() += bytes;
        }
    }

    fn subtract(&mut self, account: AccountId, bytes: u64) {
        self.held -= bytes;
        if let Some(held) = self.by_account.get_mut(&account) {
            *held -= bytes;
            if *held == 0 {
                self.by_account.remove(&account);
            }
        }
    }

    fn wait(&mut self, account: AccountId, waiter: Waiter) {
        let queue = self.waiting.entry(account).or_default();
        // Drop requests that stopped waiting.
        queue.retain(|waiter| !waiter.granted.is_closed());
        queue.push_back(waiter);
        if !self.turns.contains(&account) {
            self.turns.push_back(account);
        }
    }

    /// Takes the next waiting request from an account's queue.
    fn next_of(&mut self, account: AccountId) -> Option<Waiter> {
        let queue = self.waiting.get_mut(&account)?;
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&account);
        }
        waiter
    }

    fn put_back(&mut self, account: AccountId, waiter: Waiter) {
        self.waiting.entry(account).or_default().push_front(waiter);
    }
}

impl Reservation {
    /// The size of the reservation in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `bytes` more without waiting: a request that holds a slot must not wait for memory.
    pub fn try_grow(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        let mut state = self.budget.lock();
        if !state.fits(self.account, bytes) {
            return Err(MemoryFull::of(bytes));
        }
        state.add(self.account, bytes);
        self.bytes += bytes;
        Ok(())
    }

    /// Moves up to `bytes` into a reservation of their own.
    #[must_use]
    pub fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self {
            budget: self.budget.clone(),
            account: self.account,
            bytes,
        }
    }

    /// Releases what exceeds `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        if surplus > 0 {
            self.bytes -= surplus;
            let mut state = self.budget.lock();
            state.subtract(self.account, surplus);
            self.budget.serve(state);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl MemoryFull {
    fn of(bytes: u64) -> Self {
        Self {
            wanted_mb: bytes.div_ceil(1 << 20),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ONE: AccountId = AccountId(Uuid::from_u128(1));
    const OTHER: AccountId = AccountId(Uuid::from_u128(2));
    const THIRD: AccountId = AccountId(Uuid::from_u128(3));

    #[test]
    fn an_account_leaves_as_much_as_it_holds() {
        let budget = MemoryBudget::new(120);
        let mut first = budget.try_reserve(ONE, 60).expect("half");
        assert!(first.try_grow(1).is_err());
        let _other = budget.try_reserve(OTHER, 30).expect("half of what is left");
        assert!(budget.try_reserve(OTHER, 1).is_err());
        let _third = budget.try_reserve(THIRD, 15).expect("half of what is left");
        drop(first);
        let status = budget.status();
        assert_eq!((status.held, status.waiting), (45, 0));
    }

    #[test]
    fn a_single_request_may_take_everything_and_no_more() {
        let budget = MemoryBudget::new(100);
        assert!(budget.try_reserve(ONE, 101).is_err());
        let mut all = budget.try_reserve(ONE, 100).expect("everything");
        assert!(budget.try_reserve(OTHER, 1).is_err());
        all.shrink_to(10);
        assert_eq!(all.bytes(), 10);
        assert!(budget.try_reserve(OTHER, 45).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn accounts_wait_in_turn() {
        let budget = MemoryBudget::new(100);
        let all = budget.try_reserve(ONE, 100).expect("everything");
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting: Vec<_> = [(ONE, "one"), (ONE, "one again"), (OTHER, "other")]
            .map(|(account, name)| {
                let (budget, order) = (budget.clone(), Arc::clone(&order));
                tokio::spawn(async move {
                    let reservation = budget.reserve(account, 50).await.expect("its turn comes");
                    order.lock().expect("no panic").push(name);
                    drop(reservation);
                })
            })
            .into();
        while budget.status().waiting < 3 {
            tokio::task::yield_now().await;
        }
        drop(all);
        for task in waiting {
            task.await.expect("no panic");
        }
        assert_eq!(*order.lock().expect("no panic"), ["one", "other", "one again"]);
        assert_eq!(budget.status().held, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_refused_and_leaves_nothing_behind() {
        let budget = MemoryBudget::new(100);
        let all = budget.try_reserve(ONE, 100).expect("everything");
        let refused = budget.reserve(OTHER, 20).await.err().expect("refused");
        assert_eq!(refused, MemoryFull { wanted_mb: 1 });
        drop(all);
        let status = budget.status();
        assert_eq!((status.held, status.waiting), (0, 0));
    }
}
