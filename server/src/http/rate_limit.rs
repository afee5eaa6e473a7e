//! How often an account may ask: a full minute's worth at once, then as its share grows back. Each process counts for
//! itself, so that with several of them the limit is approximate. Every answer to a known caller says where the account
//! stands, in the fields of draft-ietf-httpapi-ratelimit-headers-10.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};

use crate::domain::ids::AccountId;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
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

/// Where an account stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    per_minute: NonZeroU32,
    /// Requests that it may make at once.
    remaining: u32,
    /// Until it may make a full minute's worth at once.
    complete_in: Duration,
    /// Seconds until the request may be made, if it was refused.
    pub(super) refused_for: Option<u64>,
}

impl RateLimit {
    /// Counts a request, unless it comes too soon.
    pub(super) fn take(&self, account: AccountId, per_minute: NonZeroU32, now: Instant) -> Standing {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.sweep(now);
        let full_at = buckets.full_at.entry(account).or_insert(now);
        let share = MINUTE / per_minute.get();
        let before = full_at.saturating_duration_since(now);
        let missing = (before + share).saturating_sub(MINUTE);
        let complete_in = if missing.is_zero() { before + share } else { before };
        *full_at = now + complete_in;
        let room = MINUTE.saturating_sub(complete_in);
        Standing {
            per_minute,
            remaining: u32::try_from(room.as_nanos() / share.as_nanos().max(1)).unwrap_or(u32::MAX),
            complete_in,
            refused_for: (!missing.is_zero()).then(|| whole_seconds(missing)),
        }
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

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs_f64().ceil() as u64
}

/// Where the extractor of the caller leaves the account's standing for the answer.
#[derive(Clone, Default)]
pub(super) struct StandingSlot(Arc<OnceLock<Standing>>);

impl StandingSlot {
    pub(super) fn fill(&self, standing: Standing) {
        // The first extractor of a request counts it.
        let _ = self.0.set(standing);
    }
}

/// Wraps every route.
pub(super) async fn tell(mut request: Request, next: Next) -> Response {
    let slot = StandingSlot::default();
    request.extensions_mut().insert(slot.clone());
    let mut response = next.run(request).await;
    if let Some(standing) = slot.0.get() {
        standing.write(response.headers_mut());
    }
    response
}

impl Standing {
    fn write(&self, headers: &mut HeaderMap) {
        let policy = format!("\"requests\";q={};w={}", self.per_minute, MINUTE.as_secs());
        let standing = format!(
            "\"requests\";r={};t={}",
            self.remaining,
            whole_seconds(self.complete_in)
        );
        for (name, value) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, standing)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at these seconds; tells what remains, or for how long it is refused.
    fn take(
        limit: &RateLimit,
        account: AccountId,
        per_minute: u32,
        seconds: &[u64],
        from: Instant,
    ) -> Vec<Result<u32, u64>> {
        let rate = NonZeroU32::new(per_minute).expect("not 0");
        let standings = seconds
            .iter()
            .map(|seconds| limit.take(account, rate, from + Duration::from_secs(*seconds)));
        standings
            .map(|standing| standing.refused_for.map_or(Ok(standing.remaining), Err))
            .collect()
    }

    #[test]
    fn each_account_has_its_own_share() {
        let limit = RateLimit::default();
        let (one, other, now) = (AccountId::generate(), AccountId::generate(), Instant::now());
        assert_eq!(take(&limit, one, 2, &[0, 0, 10], now), [Ok(1), Ok(0), Err(20)]);
        assert_eq!(take(&limit, other, 2, &[10], now), [Ok(1)]);
        // Half of the share is back after half a minute, all of it and no more after a minute.
        assert_eq!(take(&limit, one, 2, &[30, 30], now), [Ok(0), Err(30)]);
        assert_eq!(take(&limit, one, 2, &[600, 600, 600], now), [Ok(1), Ok(0), Err(30)]);
    }

    #[test]
    fn a_minutes_worth_comes_at_once() {
        let limit = RateLimit::default();
        let taken = take(&limit, AccountId::generate(), 7, &[0; 10], Instant::now());
        let remaining: Vec<_> = taken.iter().filter_map(|taken| taken.ok()).collect();
        assert_eq!(remaining, [6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn another_plan_counts_at_once() {
        let limit = RateLimit::default();
        let (account, now) = (AccountId::generate(), Instant::now());
        assert_eq!(take(&limit, account, 1, &[0, 0], now), [Ok(0), Err(60)]);
        assert_eq!(take(&limit, account, 60, &[1, 1], now), [Ok(0), Err(1)]);
        assert_eq!(take(&limit, account, 60, &[61], now), [Ok(59)]);
    }

    #[test]
    fn the_fields_are_those_of_the_draft() {
        let mut headers = HeaderMap::new();
        let rate = NonZeroU32::new(60).expect("not 0");
        RateLimit::default()
            .take(AccountId::generate(), rate, Instant::now())
            .write(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"requests\";q=60;w=60");
        assert_eq!(headers["ratelimit"], "\"requests\";r=59;t=1");
    }

    #[test]
    fn accounts_that_were_away_are_forgotten() {
        let limit = RateLimit::default();
        let now = Instant::now();
        for _ in 0..=SWEEP_FROM {
            take(&limit, AccountId::generate(), 1, &[0], now);
        }
        take(&limit, AccountId::generate(), 1, &[60], now);
        assert_eq!(limit.buckets.lock().expect("no panic").full_at.len(), 1);
    }
}
