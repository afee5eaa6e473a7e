//! The accounts with open pages, as known to one process.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use platen_domain::ids::AccountId;

/// Interval at which a process announces the accounts that have pages open in it.
pub(super) const ANNOUNCE_EVERY: Duration = Duration::from_secs(20);
/// After this time without an announcement an account counts as having no open pages. Pages without an event stream are
/// announced only when they are loaded.
const SILENCE: Duration = Duration::from_mins(5);

/// Announcements received so far.
#[derive(Default)]
pub(super) struct Audience {
    connected_since: Option<Instant>,
    named_at: HashMap<AccountId, Instant>,
}

impl Audience {
    /// Records that announcements arrive from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        self.connected_since = Some(now);
    }

    /// Records that announcements no longer arrive.
    pub(super) fn end(&mut self) {
        self.connected_since = None;
    }

    /// Records an announcement. Returns whether the account was not known to have open pages.
    pub(super) fn note(&mut self, account: AccountId, now: Instant) -> bool {
        let before = self.named_at.insert(account, now);
        before.is_none_or(|before| is_silent(before, now))
    }

    /// Removes accounts whose last announcement is too old.
    pub(super) fn forget_silent(&mut self, now: Instant) {
        self.named_at.retain(|_, named_at| !is_silent(*named_at, now));
    }

    /// Returns whether the account is known to have pages open.
    pub(super) fn has(&self, account: AccountId, now: Instant) -> bool {
        self.named_at
            .get(&account)
            .is_some_and(|named_at| !is_silent(*named_at, now))
    }

    /// Returns whether every process has had time to make an announcement since listening began.
    pub(super) fn is_informed(&self, now: Instant) -> bool {
        self.connected_since
            .is_some_and(|since| now.saturating_duration_since(since) >= ANNOUNCE_EVERY)
    }
}

fn is_silent(named_at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(named_at) >= SILENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_until_all_have_spoken() {
        let (mut audience, start) = (Audience::default(), Instant::now());
        assert!(!audience.is_informed(start));
        audience.begin(start);
        assert!(!audience.is_informed(start + ANNOUNCE_EVERY / 2));
        assert!(audience.is_informed(start + ANNOUNCE_EVERY));
        audience.end();
        assert!(!audience.is_informed(start + ANNOUNCE_EVERY));
    }

    #[test]
    fn an_account_that_is_not_named_again_has_no_pages_any_more() {
        let (mut audience, start, account) = (Audience::default(), Instant::now(), AccountId::generate());
        assert!(audience.note(account, start));
        let again = start + ANNOUNCE_EVERY;
        assert!(!audience.note(account, again));
        assert!(audience.has(account, again + SILENCE / 2));
        assert!(!audience.has(account, again + SILENCE));
        assert!(audience.note(account, again + SILENCE));
        audience.forget_silent(again + 2 * SILENCE);
        assert!(audience.named_at.is_empty());
    }
}
