//! Numbered places of the pool for sessions, and the state of each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::snapshot::{SessionSnapshot, SessionState};

/// The taken places by number. The lock is never held while another lock is acquired.
#[derive(Default)]
pub(super) struct Places(Mutex<BTreeMap<usize, Occupant>>);

/// State of the session in a place.
struct Occupant {
    state: SessionState,
    account: Option<Uuid>,
    since: Instant,
}

/// A taken place. Dropping it frees the place.
pub(super) struct Place {
    number: usize,
    places: Arc<Places>,
    changed: Arc<Notify>,
}

impl Places {
    /// Returns the number of taken places: sessions that exist, or are being created or closed.
    pub(super) fn taken(&self) -> usize {
        self.lock().len()
    }

    /// Returns the state of each session, ordered by number.
    pub(super) fn snapshot(&self) -> Vec<SessionSnapshot> {
        let places = self.lock();
        let sessions = places.iter().map(|(&number, occupant)| SessionSnapshot {
            number,
            state: occupant.state,
            account: occupant.account,
            lasting: occupant.since.elapsed(),
        });
        sessions.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Occupant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Takes the first free place. `changed` is notified when it is freed.
    pub(super) fn take(places: &Arc<Places>, changed: &Arc<Notify>) -> Self {
        let mut taken = places.lock();
        let mut number = 1;
        while taken.contains_key(&number) {
            number += 1;
        }
        taken.insert(
            number,
            Occupant {
                state: SessionState::Opening,
                account: None,
                since: Instant::now(),
            },
        );
        drop(taken);
        Self {
            number,
            places: Arc::clone(places),
            changed: Arc::clone(changed),
        }
    }

    /// Records the state and account of the session in this place.
    pub(super) fn note(&self, state: SessionState, account: Option<Uuid>) {
        let since = Instant::now();
        self.places
            .lock()
            .insert(self.number, Occupant { state, account, since });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().remove(&self.number);
        self.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_free_again_is_the_next_to_be_taken() {
        let (places, changed) = (Arc::default(), Arc::default());
        let [first, second, third] = std::array::from_fn(|_| Place::take(&places, &changed));
        let account = Some(Uuid::from_u128(7));
        third.note(SessionState::InUse, account);
        drop(second);
        let numbers = |places: &Places| -> Vec<_> { places.snapshot().iter().map(|session| session.number).collect() };
        assert_eq!(numbers(&places), [1, 3]);
        let _second = Place::take(&places, &changed);
        assert_eq!((numbers(&places), places.taken()), (vec![1, 2, 3], 3));
        let seen = places.snapshot();
        assert_eq!((seen[1].state, seen[1].account), (SessionState::Opening, None));
        assert_eq!((seen[2].state, seen[2].account), (SessionState::InUse, account));
        drop(first);
        assert_eq!(numbers(&places), [2, 3]);
    }
}
