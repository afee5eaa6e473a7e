//! How often an account may ask: a full minute's worth at once, then as its share grows back. Each process counts for
//! itself, so that with several of them the limit is approximate.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::domain::ids::AccountId;

const MINUTE: Duration = Duration::from_mins(1);
/// Accounts whose share has grown back are forgotten when there are more than twice as many as after the last time, and
/// at least so many.
const SWEEP_FROM: usize = 1_000;

/// Counts requests by account; cheap to clone.
#[derive(Clone, Default)]
pub(super) struct RateLimit {
    buckets: Arc<Mutex<Buckets>>,
}

#[derive(Default)]
struct Buckets {
    /// When the account's share is complete again. With every request that lies one share of a minute later.
    full_at: HashMap<AccountId, Instant>,
    sweep_at: usize,
}

impl RateLimit {
    /// Counts a request, or says after how many seconds it may be made.
    pub(super) fn take(&self, account: AccountId, per_minute: NonZeroU32, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.sweep(now);
        let full_at = buckets.full_at.entry(account).or_insert(now);
        let after = (*full_at).max(now) + MINUTE / per_minute.get();
        let missing = after.saturating_duration_since(now + MINUTE);
        if !missing.is_zero() {
            return Err(missing.as_secs_f64().ceil() as u64);
        }
        *full_at = after;
        Ok(())
    }
}

impl Buckets {
    fn sweep(&mut self, now: Instant) {
        if self.full_at.len() > self.sweep_at.max(SWEEP_FROM) {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.sweep_at = self.full_at.len() * 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_own_share() {
        let limit = RateLimit::default();
        let (one, other) = (AccountId::generate(), AccountId::generate());
        let two = NonZeroU32::new(2).expect("not 0");
        let now = Instant::now();
        let take = |account, seconds| limit.take(account, two, now + Duration::from_secs(seconds));
        assert_eq!([take(one, 0), take(one, 0)], [Ok(()), Ok(())]);
        assert_eq!(take(one, 10), Err(20));
        assert_eq!(take(other, 10), Ok(()));
        // Half of the share is back after half a minute, all of it and no more after a minute.
        assert_eq!([take(one, 30), take(one, 30)], [Ok(()), Err(30)]);
        assert_eq!([take(one, 600), take(one, 600)], [Ok(()), Ok(())]);
        assert_eq!(take(one, 600), Err(30));
    }

    #[test]
    fn a_minutes_worth_comes_at_once() {
        let limit = RateLimit::default();
        let rate = NonZeroU32::new(7).expect("not 0");
        let (account, now) = (AccountId::generate(), Instant::now());
        let allowed = (0..10).filter(|_| limit.take(account, rate, now).is_ok());
        assert_eq!(allowed.count(), 7);
    }

    #[test]
    fn accounts_that_were_away_are_forgotten() {
        let limit = RateLimit::default();
        let now = Instant::now();
        for _ in 0..=SWEEP_FROM {
            assert_eq!(limit.take(AccountId::generate(), NonZeroU32::MIN, now), Ok(()));
        }
        let later = now + MINUTE;
        assert_eq!(limit.take(AccountId::generate(), NonZeroU32::MIN, later), Ok(()));
        assert_eq!(limit.buckets.lock().expect("no panic").full_at.len(), 1);
    }
}
