//! Rate limits of this process: a full quota at once, which is then replenished continuously. Those of accounts are counted
//! for all processes together (`rate_limits`).

use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Minimum number of keys before those with a full quota are removed. A sweep runs when the number has doubled since
/// the previous one.
const SWEEP_FROM: usize = 1_000;
/// Maximum number of keys. Beyond it, the keys whose quota is replenished first are removed.
const MOST: usize = 100_000;

/// A number of times within a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Size of the quota, which can be used at once.
    pub times: NonZeroU32,
    /// Time until a used quota is fully replenished.
    pub within: Duration,
}

/// Rate limiter by key. Cheap to clone; clones share their counts.
pub struct Throttle<K>(Arc<Mutex<Buckets<K>>>);

struct Buckets<K> {
    /// Time at which each key's quota is full again. Each use moves it by one share.
    full_at: HashMap<K, Instant>,
    sweep_at: usize,
}

/// Rate limit status of a key after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatus {
    /// Remaining attempts.
    pub remaining: u32,
    /// Time until the quota is full.
    pub complete_in: Duration,
    /// Time until the next attempt is allowed; `None` if this one was.
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
    /// Counts an attempt, unless the quota is used up. Refused attempts don't count.
    pub fn take(&self, key: K, quota: Quota, now: Instant) -> QuotaStatus {
        let mut buckets = self.lock();
        buckets.sweep(now);
        let full_at = buckets.full_at.entry(key).or_insert(now);
        let share = quota.within / quota.times.get();
        let before = full_at.saturating_duration_since(now);
        let missing = (before + share).saturating_sub(quota.within);
        let complete_in = if missing.is_zero() { before + share } else { before };
        *full_at = now + complete_in;
        let room = quota.within.saturating_sub(complete_in);
        QuotaStatus {
            remaining: u32::try_from(room.as_nanos() / share.as_nanos().max(1)).unwrap_or(u32::MAX),
            complete_in,
            refused_for: (!missing.is_zero()).then_some(missing),
        }
    }

    /// Restores the full quota of a key.
    pub fn forgive(&self, key: &K) {
        self.lock().full_at.remove(key);
    }

    /// Restores the full quota of all matching keys. Scans all keys.
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

    /// Makes attempts at these seconds. Returns the remaining attempts, or the seconds until the next one is allowed.
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
            .map(|status| {
                let refused = status.refused_for.map(|refused| refused.as_secs());
                refused.map_or(Ok(status.remaining), Err)
            })
            .collect()
    }

    #[test]
    fn each_has_a_quota_of_their_own() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(take(&throttle, "one", 2, &[0, 0, 10], now), [Ok(1), Ok(0), Err(20)]);
        assert_eq!(take(&throttle, "other", 2, &[10], now), [Ok(1)]);
        // Half of the quota is back after half a minute; all of it, and no more, after a minute.
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
    fn a_forgiven_client_starts_again() {
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
        // The latest keys are retained.
        let again = throttle.take(2 * MOST - 1, quota(1), now + Duration::from_secs(1));
        assert!(again.refused_for.is_some());
    }
}
