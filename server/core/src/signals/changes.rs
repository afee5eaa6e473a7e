//! Change events for open pages: notifies them which renders of their account have changed, in whichever process. There
//! is a single path: a change is published by `NOTIFY`, and received from there even by the process in which it
//! happened.
//!
//! Processes also announce which accounts have pages open, so that changes of other accounts are not published at all.

mod audience;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use platen_domain::ids::{AccountId, RenderId};
use sqlx::PgPool;
use tokio::{
    sync::{
        Notify,
        broadcast::{self, error::RecvError},
    },
    time::{MissedTickBehavior, interval, timeout},
};
use uuid::Uuid;

use crate::{
    lifecycle::Lifecycle,
    mutex::lock,
    signals::changes::audience::{ANNOUNCE_EVERY, Audience},
    store::process_events::{self, ChangedRenders, ProcessEvent},
};

/// Changes within this time are published together: nobody reads faster, and a busy account costs no more than a quiet
/// one.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// Maximum number of renders that an event lists by id; beyond that it only reports that renders have changed.
const NAMED: usize = 100;
/// Maximum number of changes that a slow page may lag behind.
const BEHIND: usize = 32;
/// Maximum number of listening pages of one account in one process.
const PAGES_OF_ACCOUNT: usize = 30;
/// Maximum number of listening pages in one process.
const PAGES: usize = 2000;

/// Publishes and receives change events; cheap to clone.
#[derive(Clone, Default)]
pub struct Changes(Arc<State>);

#[derive(Default)]
struct State {
    pending: Mutex<HashMap<AccountId, BTreeSet<RenderId>>>,
    has_pending: Notify,
    pages: Mutex<Pages>,
    /// Accounts whose first page was opened in this process and has not been announced yet.
    to_announce: Mutex<BTreeSet<AccountId>>,
    audience: Mutex<Audience>,
}

#[derive(Default)]
struct Pages {
    closed: bool,
    count: usize,
    by_account: HashMap<AccountId, broadcast::Sender<Change>>,
}

/// A change event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// These renders have changed.
    Renders(Arc<[RenderId]>),
    /// Renders have changed, but it is unknown which.
    Some,
}

impl Change {
    /// Returns whether the render may have changed.
    pub fn is_about(&self, render: RenderId) -> bool {
        match self {
            Self::Renders(renders) => renders.contains(&render),
            Self::Some => true,
        }
    }
}

impl Changes {
    /// Publishes that a render has changed. Must be called after the change is committed.
    pub fn changed(&self, account: AccountId, render: RenderId) {
        if lock(&self.0.audience).is_informed(Instant::now()) && !self.has_open_pages(account) {
            return;
        }
        lock(&self.0.pending).entry(account).or_default().insert(render);
        self.0.has_pending.notify_one();
    }

    /// Returns whether any process is known to have a page of the account open.
    pub fn has_open_pages(&self, account: AccountId) -> bool {
        let is_open_here = lock(&self.0.pages).by_account.contains_key(&account);
        is_open_here || lock(&self.0.audience).has(account, Instant::now())
    }

    /// Records that a page of an account was loaded: it may stay open for some time, but without scripts it doesn't
    /// listen.
    pub fn page_loaded(&self, account: AccountId) {
        lock(&self.0.audience).note(account, Instant::now());
        self.announce(account);
    }

    /// Announces to other processes that an account has pages open.
    fn announce(&self, account: AccountId) {
        lock(&self.0.to_announce).insert(account);
        self.0.has_pending.notify_one();
    }

    /// Publishes changes and announcements to all processes, until the service stops.
    pub(super) async fn notify(&self, lifecycle: &Lifecycle, db: &PgPool) {
        let mut announcing = interval(ANNOUNCE_EVERY);
        announcing.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let open = tokio::select! {
                () = self.0.has_pending.notified() => std::mem::take(&mut *lock(&self.0.to_announce)),
                _ = announcing.tick() => {
                    lock(&self.0.audience).forget_silent(Instant::now());
                    lock(&self.0.pages).by_account.keys().copied().collect()
                }
                () = lifecycle.stopping() => return,
            };
            let changed = std::mem::take(&mut *lock(&self.0.pending));
            let open = open.into_iter().map(ProcessEvent::Listening);
            let events = changed.into_iter().map(|(account, renders)| {
                ProcessEvent::Changed(ChangedRenders {
                    account,
                    renders: (renders.len() <= NAMED).then(|| renders.into_iter().collect()),
                })
            });
            // Pages that miss an event show the change when they are loaded again.
            let events: Vec<_> = open.chain(events).collect();
            if events.is_empty() {
                continue;
            }
            if let Err(error) = process_events::notify(db, events).await {
                tracing::warn!(%error, "change events could not be published");
            }
            let _ = timeout(TELL_EVERY, lifecycle.stopping()).await;
        }
    }

    /// Passes a received change event to the pages of its account.
    pub(super) fn received(&self, changed: ChangedRenders) {
        if let Some(page) = lock(&self.0.pages).by_account.get(&changed.account) {
            let change = changed
                .renders
                .map_or(Change::Some, |renders| Change::Renders(renders.into()));
            // There may be no receiver left.
            let _ = page.send(change);
        }
    }

    /// Records that an account has pages open in some process. Its first page may have missed earlier changes.
    pub(super) fn pages_opened(&self, account: AccountId) {
        let is_first = lock(&self.0.audience).note(account, Instant::now());
        if is_first && let Some(page) = lock(&self.0.pages).by_account.get(&account) {
            let _ = page.send(Change::Some);
        }
    }

    /// Records that the connection for events of other processes is lost.
    pub(super) fn disconnected(&self) {
        lock(&self.0.audience).end();
    }

    /// Records that events of other processes are received from now on, and notifies all pages that they may have
    /// missed some.
    pub(super) fn connected(&self) {
        lock(&self.0.audience).begin(Instant::now());
        for page in lock(&self.0.pages).by_account.values() {
            let _ = page.send(Change::Some);
        }
    }

    /// Ends all listeners and refuses new ones.
    pub(super) fn close(&self) {
        let mut pages = lock(&self.0.pages);
        pages.closed = true;
        pages.by_account.clear();
    }

    /// Returns a listener for a page of an operator, which receives no account's events. `None` as in [`Self::listen`].
    pub fn listen_as_operator(&self) -> Option<Listening> {
        self.listen(AccountId(Uuid::nil()))
    }

    /// Returns a listener for changes of an account. Returns `None` if too many pages are listening, or the service
    /// stops.
    pub fn listen(&self, account: AccountId) -> Option<Listening> {
        let mut pages = lock(&self.0.pages);
        if pages.closed || pages.count >= PAGES {
            return None;
        }
        let sender = pages.by_account.entry(account).or_insert_with(|| {
            self.announce(account);
            broadcast::Sender::new(BEHIND)
        });
        if sender.receiver_count() >= PAGES_OF_ACCOUNT {
            return None;
        }
        let receiver = sender.subscribe();
        pages.count += 1;
        Some(Listening {
            changes: self.clone(),
            account,
            receiver: Some(receiver),
        })
    }
}

/// The listener of one page.
pub struct Listening {
    changes: Changes,
    account: AccountId,
    receiver: Option<broadcast::Receiver<Change>>,
}

impl Listening {
    /// Waits for the next change. Returns `None` when the service stops.
    pub async fn next(&mut self) -> Option<Change> {
        match self.receiver.as_mut()?.recv().await {
            Ok(change) => Some(change),
            Err(RecvError::Lagged(_)) => Some(Change::Some),
            Err(RecvError::Closed) => None,
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.receiver = None;
        let mut pages = lock(&self.changes.0.pages);
        pages.count -= 1;
        let last = pages.by_account.get(&self.account);
        if last.is_some_and(|sender| sender.receiver_count() == 0) {
            pages.by_account.remove(&self.account);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(account: AccountId, renders: &[RenderId]) -> ChangedRenders {
        ChangedRenders {
            account,
            renders: Some(renders.to_vec()),
        }
    }

    #[tokio::test]
    async fn a_page_hears_of_its_own_account_only() {
        let changes = Changes::default();
        let (own, other) = (AccountId::generate(), AccountId::generate());
        let (first, second) = (RenderId::generate(), RenderId::generate());
        let mut page = changes.listen(own).expect("a place");
        changes.received(changed(other, &[first]));
        changes.received(changed(own, &[second]));
        let received = page.next().await.expect("a change");
        assert!(received.is_about(second) && !received.is_about(first));
        changes.connected();
        assert_eq!(page.next().await, Some(Change::Some));
        changes.close();
        assert_eq!(page.next().await, None);
        assert!(changes.listen(own).is_none());
    }

    #[tokio::test]
    async fn nothing_is_told_of_accounts_without_open_pages() {
        let changes = Changes::default();
        let (open, elsewhere, closed) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
        let earlier = Instant::now().checked_sub(ANNOUNCE_EVERY).expect("a moment ago");
        lock(&changes.0.audience).begin(earlier);
        let mut page = changes.listen(open).expect("a place");
        changes.pages_opened(open);
        changes.pages_opened(elsewhere);
        // Changes from before every process knew of the page.
        assert_eq!(page.next().await, Some(Change::Some));
        for account in [open, elsewhere, closed] {
            changes.changed(account, RenderId::generate());
        }
        let notifications: BTreeSet<_> = lock(&changes.0.pending).keys().copied().collect();
        assert_eq!(notifications, BTreeSet::from([open, elsewhere]));
    }

    #[tokio::test]
    async fn a_page_that_falls_behind_hears_that_it_did() {
        let changes = Changes::default();
        let account = AccountId::generate();
        let mut page = changes.listen(account).expect("a place");
        for _ in 0..=BEHIND {
            changes.received(changed(account, &[RenderId::generate()]));
        }
        assert_eq!(page.next().await, Some(Change::Some));
    }

    #[test]
    fn an_account_has_so_many_places_and_gets_them_back() {
        let changes = Changes::default();
        let (account, other) = (AccountId::generate(), AccountId::generate());
        let mut pages: Vec<_> = (0..PAGES_OF_ACCOUNT).map(|_| changes.listen(account)).collect();
        assert!(pages.iter().all(Option::is_some));
        assert!(changes.listen(account).is_none());
        assert!(changes.listen(other).is_some());
        pages.pop();
        assert!(changes.listen(account).is_some());
        pages.clear();
        assert!(lock(&changes.0.pages).by_account.is_empty());
        assert_eq!(lock(&changes.0.pages).count, 0);
    }
}
