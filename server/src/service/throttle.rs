//! How often somebody may do something: a full quota at once, then as it grows back. Each process counts for itself, so
//! that with several of them the limit is approximate.

use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Those whose quota has grown back are forgotten when there are more than twice as many as after the last time, and at
/// least so many.
const SWEEP_FROM: usize = 1_000;
/// More are not remembered: those are forgotten first whose quota would have grown back first.
const MOST: usize = 100_000;

/// So many times within so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// At once, and no more in the long run.
    pub times: NonZeroU32,
    /// Until all of it has grown back.
    pub within: Duration,
}

/// Counts by key; cheap to clone.
pub struct Throttle<K>(Arc<Mutex<Buckets<K>>>);

struct Buckets<K> {
    /// When the key's quota is complete again. With every time that lies one share later.
    full_at: HashMap<K, Instant>,
    sweep_at: usize,
}

/// Where somebody stands after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// How often they may try at once.
    pub remaining: u32,
    /// Until their quota is complete.
    pub complete_in: Duration,
    /// Until they may try, if they were refused.
    pub refused_for: Option<Duration>,
}

impl<K> Clone for Throttle<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> Default for Throttle<K> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Buckets {
            full_at: HashMap::new(),
            sweep_at: 0,
        })))
    }
}

impl<K: Eq + Hash> Throttle<K> {
    /// Counts a try, unless it comes too soon.
    pub fn take(&self, key: K, quota: Quota, now: Instant) -> Standing {
        let mut buckets = self.lock();
        buckets.sweep(now);
        let full_at = buckets.full_at.entry(key).or_insert(now);
        let share = quota.within / quota.times.get();
        let before = full_at.saturating_duration_since(now);
        let missing = (before + share).saturating_sub(quota.within);
        let complete_in = if missing.is_zero() { before + share } else { before };
        *full_at = now + complete_in;
        let room = quota.within.saturating_sub(complete_in);
        Standing {
            remaining: u32::try_from(room.as_nanos() / share.as_nanos().max(1)).unwrap_or(u32::MAX),
            complete_in,
            refused_for: (!missing.is_zero()).then_some(missing),
        }
    }

    /// Gives somebody their whole quota back.
    pub fn forgive(&self, key: &K) {
        self.lock().full_at.remove(key);
    }

    /// Gives everybody their whole quota back whose key is meant. Looks at every key.
    pub fn forgive_where(&self, is_meant: impl Fn(&K) -> bool) {
        self.lock().full_at.retain(|key, _| !is_meant(key));
    }

    fn lock(&self) -> MutexGuard<'_, Buckets<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Buckets<K> {
    fn sweep(&mut self, now: Instant) {
        if self.full_at.len() <= self.sweep_at.max(SWEEP_FROM) && self.full_at.len() < MOST {
            return;
        }
        self.full_at.retain(|_, full_at| *full_at > now);
        if self.full_at.len() >= MOST {
            let mut times: Vec<_> = self.full_at.values().copied().collect();
            let (_, middle, _) = times.select_nth_unstable(MOST / 2);
            let middle = *middle;
            self.full_at.retain(|_, full_at| *full_at > middle);
        }
        self.sweep_at = self.full_at.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(times: u32) -> Quota {
        Quota {
            times: NonZeroU32::new(times).expect("not 0"),
            within: Duration::from_mins(1),
        }
    }

    /// Tries at these seconds; tells what remains, or for how long it is refused.
    fn take(
        throttle: &Throttle<&'static str>,
        key: &'static str,
        times: u32,
        seconds: &[u64],
        from: Instant,
    ) -> Vec<Result<u32, u64>> {
        let standings = seconds
            .iter()
            .map(|seconds| throttle.take(key, quota(times), from + Duration::from_secs(*seconds)));
        standings
            .map(|standing| {
                let refused = standing.refused_for.map(|refused| refused.as_secs());
                refused.map_or(Ok(standing.remaining), Err)
            })
            .collect()
    }

    #[test]
    fn each_has_a_quota_of_their_own() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(take(&throttle, "one", 2, &[0, 0, 10], now), [Ok(1), Ok(0), Err(20)]);
        assert_eq!(take(&throttle, "other", 2, &[10], now), [Ok(1)]);
        // Half of it is back after half a minute, all of it and no more after a minute.
        assert_eq!(take(&throttle, "one", 2, &[30, 30], now), [Ok(0), Err(30)]);
        assert_eq!(
            take(&throttle, "one", 2, &[600, 600, 600], now),
            [Ok(1), Ok(0), Err(30)]
        );
    }

    #[test]
    fn all_of_it_comes_at_once() {
        let taken = take(&Throttle::default(), "one", 7, &[0; 10], Instant::now());
        let remaining: Vec<_> = taken.iter().filter_map(|taken| taken.ok()).collect();
        assert_eq!(remaining, [6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn another_quota_counts_at_once() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(take(&throttle, "one", 1, &[0, 0], now), [Ok(0), Err(60)]);
        assert_eq!(take(&throttle, "one", 60, &[1, 1], now), [Ok(0), Err(1)]);
        assert_eq!(take(&throttle, "one", 60, &[61], now), [Ok(59)]);
    }

    #[test]
    fn whoever_is_forgiven_begins_anew() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(take(&throttle, "one", 1, &[0, 0], now), [Ok(0), Err(60)]);
        throttle.forgive(&"one");
        assert_eq!(take(&throttle, "one", 1, &[0, 0], now), [Ok(0), Err(60)]);
    }

    #[test]
    fn those_who_were_away_are_forgotten() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for key in 0..=SWEEP_FROM {
            throttle.take(key, quota(1), now);
        }
        throttle.take(0, quota(1), now + Duration::from_mins(1));
        assert_eq!(throttle.lock().full_at.len(), 1);
    }

    #[test]
    fn however_many_come_only_so_many_are_remembered() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for key in 0..2 * MOST {
            throttle.take(key, quota(1), now + Duration::from_micros(key as u64));
            if key % 10_000 == 0 {
                assert!(throttle.lock().full_at.len() <= MOST);
            }
        }
        // The latest are among them.
        let again = throttle.take(2 * MOST - 1, quota(1), now + Duration::from_secs(1));
        assert!(again.refused_for.is_some());
    }
}
