//! The rate limit status of the caller's account, which every response to an authenticated caller contains, in the fields of
//! draft-ietf-httpapi-ratelimit-headers-10.

use std::{
    num::NonZeroU32,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    middleware::Next,
    response::Response,
};
use platen_core::service::throttle::QuotaStatus;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Rate limit status of an account after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateLimitStatus {
    per_minute: NonZeroU32,
    now: QuotaStatus,
}

pub(super) fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs_f64().ceil() as u64
}

/// Through this, the extractor of the caller passes the rate limit status to the middleware.
#[derive(Clone, Default)]
pub(super) struct RateLimitSlot(Arc<OnceLock<RateLimitStatus>>);

impl RateLimitSlot {
    pub(super) fn fill(&self, status: RateLimitStatus) {
        // Only the first extractor of a request counts it.
        let _ = self.0.set(status);
    }
}

/// Middleware for all routes that adds the rate limit status to responses.
pub(super) async fn add_headers(mut request: Request, next: Next) -> Response {
    let slot = RateLimitSlot::default();
    request.extensions_mut().insert(slot.clone());
    let mut response = next.run(request).await;
    // A known key that was rejected on confirmation has no rate limit status.
    if let Some(status) = slot.0.get().filter(|_| response.status() != StatusCode::UNAUTHORIZED) {
        status.write(response.headers_mut());
    }
    response
}

impl RateLimitStatus {
    pub(super) fn new(per_minute: NonZeroU32, now: QuotaStatus) -> Self {
        Self { per_minute, now }
    }

    /// Returns the seconds until the next request is allowed, if this one was refused.
    pub(super) fn refused_for(&self) -> Option<u64> {
        self.now.refused_for.map(whole_seconds)
    }

    fn write(&self, headers: &mut HeaderMap) {
        let policy = format!("\"requests\";q={};w=60", self.per_minute);
        let status = format!(
            "\"requests\";r={};t={}",
            self.now.remaining,
            whole_seconds(self.now.complete_in)
        );
        for (name, value) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, status)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_those_of_the_draft() {
        let mut headers = HeaderMap::new();
        let now = QuotaStatus {
            remaining: 59,
            complete_in: Duration::from_millis(999),
            refused_for: None,
        };
        RateLimitStatus::new(NonZeroU32::new(60).expect("not 0"), now).write(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"requests\";q=60;w=60");
        assert_eq!(headers["ratelimit"], "\"requests\";r=59;t=1");
    }
}
