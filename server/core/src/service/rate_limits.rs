//! Rate limits of accounts, counted for all processes together: any minute may have so many requests. They are counted in Postgres.
//! Of high limits, a process takes a few requests in advance, so that not every one costs a statement.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use lru::LruCache;
use platen_domain::ids::AccountId;
use sqlx::PgPool;
use tokio::time::timeout;

use crate::{
    mutex::lock,
    service::throttle::QuotaStatus,
    store::{error::StoreError, pool::ACQUIRE_TIMEOUT, rate_limits, statement::bounded},
};

/// A process takes one in so many requests of a minute at once.
const SHARE: u32 = 2_000;
/// Number of processes that together allow no more than [`TOLERANCE`] above a limit.
const PROCESSES: u32 = 12;
/// Part of a limit by which it may be exceeded, so that it is always reached: the oldest requests, up to one in 150, count until
/// the last of them is a minute old, and processes without requests use none of those that they have taken.
const TOLERANCE: f64 = 0.02;
/// Time after which a request no longer counts.
const MINUTE: Duration = Duration::from_mins(1);
/// Maximum number of accounts whose share is known. What others have taken in advance is lost.
const MOST: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// Requests that are counted together.
#[derive(Debug, Clone, Copy)]
pub enum Rate {
    /// All requests to the API, with their maximum in a minute.
    Requests(NonZeroU32),
    /// Previews of templates by the API, which are free of charge.
    Previews,
    /// Live previews in the editor, and pages that cost as much.
    LivePreviews,
}

impl Rate {
    fn name(self) -> &'static str {
        match self {
            Self::Requests(_) => "requests",
            Self::Previews => "previews",
            Self::LivePreviews => "live_previews",
        }
    }

    fn per_minute(self) -> NonZeroU32 {
        match self {
            Self::Requests(limit) => limit,
            Self::Previews => NonZeroU32::MIN.saturating_add(59),
            // Ten a second: more than users cause, who pause between words, and half of what one browser can do.
            Self::LivePreviews => NonZeroU32::MIN.saturating_add(599),
        }
    }
}

/// Rate limiter of all accounts. Cheap to clone.
#[derive(Clone)]
pub struct RateLimits {
    db: PgPool,
    shares: Arc<Mutex<Shares>>,
}

/// By account and name of the rate.
type Shares = LruCache<(AccountId, &'static str), Arc<tokio::sync::Mutex<Share>>>;

/// What this process knows of an account's quota.
#[derive(Debug)]
struct Share {
    per_minute: NonZeroU32,
    /// Requests that were taken in advance.
    unused: u32,
    /// Requests that could still be taken after that.
    remaining: u32,
    /// Time at which the quota is full again.
    full_at: Instant,
    /// Until then the quota is used up.
    refused_until: Instant,
}

impl RateLimits {
    /// Creates a rate limiter whose quotas are in the database.
    pub fn new(db: PgPool) -> Self {
        Self {
            db,
            shares: Arc::new(Mutex::new(LruCache::new(MOST))),
        }
    }

    /// Counts a request of an account, unless its quota is used up. Refused requests don't count.
    pub async fn take(&self, account: AccountId, rate: Rate) -> Result<QuotaStatus, StoreError> {
        let (name, per_minute, now) = (rate.name(), rate.per_minute(), Instant::now());
        let share = {
            let mut shares = lock(&self.shares);
            let unknown = || Arc::new(tokio::sync::Mutex::new(Share::unknown(per_minute, now)));
            Arc::clone(shares.get_or_insert((account, name), unknown))
        };
        // Requests of the account that come meanwhile use what the first one takes.
        let share = timeout(ACQUIRE_TIMEOUT, share.lock()).await;
        let mut share = share.map_err(|_| sqlx::Error::PoolTimedOut)?;
        if share.per_minute != per_minute {
            *share = Share::unknown(per_minute, now);
        }
        if let Some(status) = share.take(Instant::now()) {
            return Ok(status);
        }
        let wanted = NonZeroU32::new(per_minute.get() / SHARE).unwrap_or(NonZeroU32::MIN);
        let quota = quota(per_minute, wanted);
        let taken = bounded(rate_limits::take(&self.db, account, name, quota, wanted)).await?;
        let now = Instant::now();
        share.unused = taken.requests;
        share.remaining = taken.remaining.saturating_sub(quota.get() - per_minute.get());
        share.full_at = now + taken.full_in;
        share.refused_until = now + taken.refused_for;
        Ok(share.take(now).unwrap_or_else(|| share.refusal(now)))
    }
}

/// Returns how many requests processes may take in a minute, if each takes `at_once`: those that they still have from before are
/// used in addition.
fn quota(per_minute: NonZeroU32, at_once: NonZeroU32) -> NonZeroU32 {
    let tolerated = (f64::from(per_minute.get()) * TOLERANCE) as u32;
    per_minute.saturating_add(tolerated.saturating_sub(PROCESSES * (at_once.get() - 1)))
}

impl Share {
    fn unknown(per_minute: NonZeroU32, now: Instant) -> Self {
        Self {
            per_minute,
            unused: 0,
            remaining: 0,
            full_at: now,
            refused_until: now,
        }
    }

    /// Decides about a request, if this is possible without the database.
    fn take(&mut self, now: Instant) -> Option<QuotaStatus> {
        if self.unused > 0 {
            self.unused -= 1;
            return Some(QuotaStatus {
                remaining: self.remaining + self.unused,
                complete_in: MINUTE,
                refused_for: None,
            });
        }
        (self.refused_until > now).then(|| self.refusal(now))
    }

    fn refusal(&self, now: Instant) -> QuotaStatus {
        QuotaStatus {
            remaining: 0,
            complete_in: self.full_at.saturating_duration_since(now),
            refused_for: Some(self.refused_until.saturating_duration_since(now)),
        }
    }
}
