//! The pool of browsers and their sessions: leases sessions to renders and takes them back.

mod ahead;
pub(crate) mod lease;
mod memory;
mod places;
mod supervise;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use futures::future::try_join_all;
use platen_egress::proxy::Proxy;
use tokio::sync::{Notify, OnceCell, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

use crate::{
    Replacements, SessionCounts,
    browser::{Browser, LaunchError},
    config::EngineConfig,
    error::RenderError,
    page_kind::PageKind,
    pool::{
        lease::{Lease, Pooled},
        places::{Place, Places},
    },
    processes,
    session::Session,
    snapshot::{SessionSnapshot, SessionState},
};

/// Runs the browsers and leases sessions. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    config: EngineConfig,
    state: Mutex<State>,
    /// Set once the first page with scripts but without frames was requested.
    scripted: OnceCell<()>,
    /// Set once the browsers for pages with frames have been started.
    composited: OnceCell<()>,
    places: Arc<Places>,
    changed: Arc<Notify>,
    /// Number of browsers replaced because they died.
    died: AtomicU64,
    /// Number of browsers replaced because of their number of renders or their memory.
    retired: AtomicU64,
    closing: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Default)]
struct State {
    browsers: Vec<Arc<Browser>>,
    /// Sessions ready for their account or, if unassigned, for any; least recently used first.
    idle: Vec<Pooled>,
}

/// Result of the search for a session.
enum Found {
    Ready(Box<Pooled>),
    /// A free place for a new session in `browser`, possibly after evicting another session.
    Room {
        browser: Arc<Browser>,
        place: Place,
        evicted: Option<Box<Pooled>>,
    },
    Nothing,
}

impl Pool {
    /// Creates a pool without browsers.
    pub(crate) fn new(config: EngineConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                config,
                state: Mutex::default(),
                scripted: OnceCell::new(),
                composited: OnceCell::new(),
                places: Arc::default(),
                changed: Arc::default(),
                died: AtomicU64::new(0),
                retired: AtomicU64::new(0),
                closing: CancellationToken::new(),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// Starts the browsers for pages without frames, so that a missing Chromium is detected at start. Those for pages
    /// with frames are started with the first such page.
    pub(crate) async fn start(&self) -> Result<(), LaunchError> {
        self.start_browsers(PageKind::ScriptFree).await?;
        self.inner.tasks.spawn(self.clone().bound_memory());
        Ok(())
    }

    async fn start_browsers(&self, kind: PageKind) -> Result<(), LaunchError> {
        let Inner { config, tasks, .. } = &*self.inner;
        let launch = || Browser::launch(config, kind.has_frames(), tasks);
        for browser in try_join_all((0..config.browsers.max(1)).map(|_| launch())).await? {
            self.add(&browser);
            tasks.spawn(self.clone().supervise(browser));
        }
        tasks.spawn(self.clone().keep_one_ready(kind));
        Ok(())
    }

    /// Leases an idle session of the account, or an unassigned one, or creates one. Without room for another, evicts
    /// the least recently used idle session. Waits while no browser is available. Fails with
    /// [`RenderError::ShuttingDown`] once the pool is closed.
    pub(crate) async fn lease(&self, account: Uuid, kind: PageKind) -> Result<Lease, RenderError> {
        tokio::select! {
            () = self.inner.closing.cancelled() => Err(RenderError::ShuttingDown),
            lease = self.find_lease(account, kind) => lease,
        }
    }

    async fn find_lease(&self, account: Uuid, kind: PageKind) -> Result<Lease, RenderError> {
        self.prepare_for(kind).await?;
        loop {
            let changed = self.inner.changed.notified();
            match self.find(account, kind) {
                Found::Ready(pooled) => return Ok(self.lend(*pooled, account)),
                Found::Room {
                    browser,
                    place,
                    evicted,
                } => {
                    if let Some(evicted) = evicted {
                        self.inner.tasks.spawn(evicted.close());
                    }
                    if let Some(pooled) = self.open(browser, kind, place).await?.and_then(Lease::take) {
                        return Ok(self.lend(pooled, account));
                    }
                }
                Found::Nothing => changed.await,
            }
        }
    }

    /// Starts what the first page of its kind requires: a task that creates sessions in advance, or further browsers.
    async fn prepare_for(&self, kind: PageKind) -> Result<(), RenderError> {
        let Inner {
            scripted,
            composited,
            tasks,
            ..
        } = &*self.inner;
        match kind {
            PageKind::ScriptFree => {}
            PageKind::Scripted => {
                let keep_ready = async || drop(tasks.spawn(self.clone().keep_one_ready(kind)));
                scripted.get_or_init(keep_ready).await;
            }
            PageKind::Composited => {
                let started = composited.get_or_try_init(|| self.start_browsers(kind)).await;
                started.map_err(|error| RenderError::Browser(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Returns the number of browsers that are alive, and the version of the first.
    pub(crate) fn browsers(&self) -> (usize, String) {
        let state = self.lock();
        let version = state
            .browsers
            .first()
            .map(|browser| browser.version.clone())
            .unwrap_or_default();
        (
            state.browsers.iter().filter(|browser| browser.is_alive()).count(),
            version,
        )
    }

    /// Returns the number of sessions by use.
    pub(crate) fn sessions(&self) -> SessionCounts {
        let state = self.lock();
        let kept = state.idle.len();
        let unowned = state
            .idle
            .iter()
            .filter(|pooled| pooled.session.account.is_none())
            .count();
        SessionCounts {
            unowned,
            idle: kept - unowned,
            in_use: self.inner.places.taken().saturating_sub(kept),
        }
    }

    /// Returns the state of each session.
    pub(crate) fn snapshot(&self) -> Vec<SessionSnapshot> {
        self.inner.places.snapshot()
    }

    /// Returns the target number of browsers and the maximum number of sessions.
    pub(crate) fn limits(&self) -> (usize, usize) {
        let kinds = 1 + usize::from(self.inner.composited.initialized());
        (self.inner.config.browsers.max(1) * kinds, self.inner.config.sessions)
    }

    /// Returns the number of browsers replaced since the start.
    pub(crate) fn replacements(&self) -> Replacements {
        Replacements {
            died: self.inner.died.load(Ordering::Relaxed),
            retired: self.inner.retired.load(Ordering::Relaxed),
        }
    }

    /// Returns whether all current renderer processes are in Chromium's sandbox. `false` if there are none.
    pub(crate) fn is_sandboxed(&self) -> bool {
        let browsers = self.lock().browsers.clone();
        let renderers: Vec<_> = browsers.iter().flat_map(|browser| browser.renderers()).collect();
        !renderers.is_empty() && renderers.into_iter().all(processes::is_sandboxed)
    }

    /// Kills all browsers and waits for all tasks. Outstanding leases fail.
    pub(crate) async fn close(&self) {
        self.inner.closing.cancel();
        let browsers = {
            let mut state = self.lock();
            state.idle.clear();
            std::mem::take(&mut state.browsers)
        };
        for browser in &browsers {
            browser.kill();
        }
        for browser in browsers {
            browser.exited().await;
        }
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lend(&self, mut pooled: Pooled, account: Uuid) -> Lease {
        pooled.session.account = Some(account);
        pooled.place.note(SessionState::InUse, Some(account));
        pooled.session.browser.count_render();
        // An unassigned session may have been taken: create the next one in advance.
        self.inner.changed.notify_waiters();
        Lease {
            pooled: Some(pooled),
            pool: self.clone(),
        }
    }

    /// Creates a session. Returns `None` if this browser can't, and the caller should try another. Runs in a separate
    /// task, so that a cancelled render doesn't leave a partly created session in the browser; the session is then
    /// added to the pool.
    async fn open(&self, browser: Arc<Browser>, kind: PageKind, place: Place) -> Result<Option<Lease>, RenderError> {
        let proxy = Proxy::open(Arc::clone(&self.inner.config.guard))
            .map_err(|error| RenderError::Browser(format!("no port for the proxy: {error}")))?;
        let (made, session) = oneshot::channel();
        let pool = self.clone();
        self.inner.tasks.spawn(async move {
            let Ok(session) = Session::open(browser, kind, proxy).await else {
                return;
            };
            let lease = Lease {
                pooled: Some(Pooled { session, place }),
                pool: pool.clone(),
            };
            if let Some(unwanted) = made.send(lease).err().and_then(Lease::take) {
                pool.keep(unwanted);
            }
        });
        Ok(session.await.ok())
    }

    fn find(&self, account: Uuid, kind: PageKind) -> Found {
        self.forget_dead();
        let mut state = self.lock();
        let owned_by = |owner| move |pooled: &Pooled| pooled.session.is_for(owner, kind);
        // The most recently used session of the account is the warmest.
        let own = state.idle.iter().rposition(owned_by(Some(account)));
        if let Some(at) = own.or_else(|| state.idle.iter().position(owned_by(None))) {
            return Found::Ready(Box::new(state.idle.remove(at)));
        }
        let Some(browser) = state.least_busy_browser(kind) else {
            return Found::Nothing;
        };
        let evicted = if self.has_room(&state) {
            None
        } else if state.idle.is_empty() {
            return Found::Nothing;
        } else {
            Some(Box::new(state.idle.remove(0)))
        };
        Found::Room {
            browser,
            place: self.take_place(),
            evicted,
        }
    }

    /// Removes and closes idle sessions whose browser or renderer process has died.
    fn forget_dead(&self) {
        let dead: Vec<Pooled> = self
            .lock()
            .idle
            .extract_if(.., |pooled| !pooled.session.is_alive())
            .collect();
        for pooled in dead {
            self.inner.tasks.spawn(pooled.close());
        }
    }

    fn take_place(&self) -> Place {
        Place::take(&self.inner.places, &self.inner.changed)
    }

    fn keep(&self, mut pooled: Pooled) {
        pooled.session.last_used = Instant::now();
        pooled.place.note(SessionState::Idle, pooled.session.account);
        if !self.inner.closing.is_cancelled() {
            self.lock().idle.push(pooled);
        }
        self.inner.changed.notify_waiters();
    }

    fn add(&self, browser: &Arc<Browser>) {
        let mut state = self.lock();
        // Checked under the lock, so that no browser is added after `close` has taken them.
        if self.inner.closing.is_cancelled() {
            browser.kill();
            return;
        }
        state.browsers.push(Arc::clone(browser));
        drop(state);
        self.inner.changed.notify_waiters();
    }

    fn remove(&self, browser: &Arc<Browser>) {
        self.lock().browsers.retain(|other| !Arc::ptr_eq(other, browser));
        self.inner.changed.notify_waiters();
    }
}

impl State {
    fn least_busy_browser(&self, kind: PageKind) -> Option<Arc<Browser>> {
        self.browsers
            .iter()
            .filter(|browser| browser.is_for_frames == kind.has_frames() && browser.takes_sessions())
            .min_by_key(|browser| browser.sessions.load(Ordering::Acquire))
            .cloned()
    }
}
