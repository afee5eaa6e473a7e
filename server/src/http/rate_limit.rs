//! How often an account may ask: a full minute's worth at once, then as its share grows back.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use governor::{DefaultKeyedRateLimiter, Quota, clock::Clock};
use uuid::Uuid;

use crate::domain::ids::AccountId;

/// Accounts that have not asked for a minute are forgotten after so many requests of all accounts.
const SWEEP_EVERY: u32 = 10_000;

/// Counts requests by account; cheap to clone.
#[derive(Clone)]
pub(super) struct RateLimit {
    accounts: Arc<DefaultKeyedRateLimiter<Uuid>>,
    requests: Arc<AtomicU32>,
}

impl RateLimit {
    /// So many requests a minute for each account; 0 counts as 1.
    pub(super) fn per_minute(requests: u32) -> Self {
        let quota = Quota::per_minute(NonZeroU32::new(requests).unwrap_or(NonZeroU32::MIN));
        Self {
            accounts: Arc::new(DefaultKeyedRateLimiter::keyed(quota)),
            requests: Arc::default(),
        }
    }

    /// Counts a request, or says after how many seconds it may be made.
    pub(super) fn take(&self, account: AccountId) -> Result<(), u64> {
        if self.requests.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.accounts.retain_recent();
        }
        self.accounts.check_key(&account.0).map_err(|refusal| {
            let wait = refusal.wait_time_from(self.accounts.clock().now());
            wait.as_secs_f64().ceil().max(1.0) as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_own_share() {
        let limit = RateLimit::per_minute(2);
        let (one, other) = (AccountId::generate(), AccountId::generate());
        assert_eq!([limit.take(one), limit.take(one)], [Ok(()), Ok(())]);
        let wait = limit.take(one).expect_err("the third in a minute");
        assert!((1..=30).contains(&wait), "{wait} s");
        assert_eq!(limit.take(other), Ok(()));
    }
}
