//! Watches what a browser's processes hold in memory, and ends what holds too much.
//!
//! A page has one renderer process, whatever frames and workers it has (`chromium::FLAGS`), so that a renderer's memory is a
//! page's. What pages store in the processes that they share (blobs, request bodies and names in the browser's own,
//! textures in the GPU process) has no owner that the system knows. So the session that has been at work for longest is
//! ended first, and the memory that this frees, or not, says whether it was guilty. An innocent one is rendered again
//! elsewhere.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use chromiumoxide::cdp::browser_protocol::{browser::BrowserContextId, target::DisposeBrowserContextParams};
use rustix::process::{Pid, Signal};
use tokio::sync::watch;

use super::Browser;
use crate::{config::BROWSER_MEMORY, processes};

/// How often memory is looked at: a page that floods it gains 300 to 500 MB a second.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// A crash so soon after a kill for memory is that kill.
const KILL_WINDOW: Duration = Duration::from_secs(3);
/// The shared processes may hold so many times their limit before the browser is killed.
const HARD_LIMIT_FACTOR: u64 = 2;
/// Disposing of a context takes 20 ms, and up to 2.5 s after a flood of messages.
const DISPOSE_LIMIT: Duration = Duration::from_secs(5);
/// How long freed memory takes to go back to the system: textures take half a second.
const FREEING_LIMIT: Duration = Duration::from_secs(1);
/// A session is guilty if its end frees at least this part of what a page may hold.
const GUILTY_PART: u64 = 4;

/// A session at work in a browser, as far as its memory is concerned.
pub(crate) struct Occupant {
    context: BrowserContextId,
    at_work_since: Mutex<Option<Instant>>,
    verdict: watch::Sender<Verdict>,
}

/// Whether a session's pages fill the processes that they share with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody has asked.
    None,
    /// The session is ended to find out.
    Pending,
    /// Its end freed the memory.
    Guilty,
    /// Its end freed nothing.
    Innocent,
}

/// The sessions that a browser has, and the last renderer that was killed.
#[derive(Default)]
pub(super) struct Tenants {
    occupants: Mutex<Vec<Weak<Occupant>>>,
    last_kill: Mutex<Option<Instant>>,
}

impl Occupant {
    /// A render begins in the session.
    pub(crate) fn begin_work(&self) {
        lock(&self.at_work_since).get_or_insert_with(Instant::now);
    }

    /// The session rests.
    pub(crate) fn end_work(&self) {
        *lock(&self.at_work_since) = None;
    }

    /// Waits for the verdict, if there is to be one.
    pub(crate) async fn verdict(&self) -> Verdict {
        let mut verdict = self.verdict.subscribe();
        let known = verdict.wait_for(|verdict| *verdict != Verdict::Pending).await;
        known.map_or(Verdict::None, |verdict| *verdict)
    }
}

impl Tenants {
    fn longest_at_work(&self) -> Option<Arc<Occupant>> {
        let occupants = lock(&self.occupants);
        let living = occupants.iter().filter_map(Weak::upgrade);
        let at_work = living.filter_map(|occupant| {
            let since = *lock(&occupant.at_work_since);
            let is_tried = *occupant.verdict.borrow() != Verdict::None;
            since.filter(|_| !is_tried).map(|since| (since, occupant))
        });
        at_work.min_by_key(|(since, _)| *since).map(|(_, occupant)| occupant)
    }
}

impl Browser {
    /// Takes in a session.
    pub(crate) fn admit(&self, context: BrowserContextId) -> Arc<Occupant> {
        let occupant = Arc::new(Occupant {
            context,
            at_work_since: Mutex::default(),
            verdict: watch::Sender::new(Verdict::None),
        });
        let mut occupants = lock(&self.tenants.occupants);
        occupants.retain(|occupant| occupant.strong_count() > 0);
        occupants.push(Arc::downgrade(&occupant));
        occupant
    }

    /// Whether a renderer was killed for its memory just now. Each kill explains one crash.
    pub(crate) fn take_memory_kill(&self) -> bool {
        let last = lock(&self.tenants.last_kill).take();
        last.is_some_and(|at| at.elapsed() < KILL_WINDOW)
    }
}

/// Kills renderers above the limit: `--max-old-space-size` bounds neither typed arrays nor nodes nor pictures.
pub(super) async fn watch_renderers(browser: Weak<Browser>, limit: u64) {
    let mut interval = tokio::time::interval(WATCH_INTERVAL);
    loop {
        interval.tick().await;
        let Some(browser) = living(&browser) else { return };
        let mut held = 0;
        for pid in browser.renderers() {
            let Some(memory) = processes::memory(pid) else { continue };
            held += memory.own;
            let resident = memory.resident;
            if resident <= limit {
                continue;
            }
            let pid_number = pid.as_raw_nonzero().get();
            tracing::warn!(pid = pid_number, resident, limit, "renderer killed for its memory");
            *lock(&browser.tenants.last_kill) = Some(Instant::now());
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        browser.held_by_pages.store(held, Ordering::Relaxed);
    }
}

/// Bounds what pages make the browser and its GPU process hold, by `limit` above what they hold of their own.
pub(super) async fn watch_shared(browser: Weak<Browser>, limit: u64) {
    let mut interval = tokio::time::interval(WATCH_INTERVAL);
    loop {
        interval.tick().await;
        let Some(browser) = living(&browser) else { return };
        let held = held_by_shared(browser.group);
        if held <= BROWSER_MEMORY + limit {
            continue;
        }
        if held > HARD_LIMIT_FACTOR * (BROWSER_MEMORY + limit) {
            tracing::error!(held, limit, "browser killed for its memory");
            browser.kill();
            return;
        }
        match browser.tenants.longest_at_work() {
            Some(suspect) => try_suspect(&browser, &suspect, held, limit).await,
            // Nobody at work holds it: the browser is replaced, which fails no render.
            None => browser.bloated.cancel(),
        }
    }
}

async fn try_suspect(browser: &Browser, suspect: &Occupant, held: u64, limit: u64) {
    suspect.verdict.send_replace(Verdict::Pending);
    let dispose = DisposeBrowserContextParams::new(suspect.context.clone());
    let disposed = tokio::time::timeout(DISPOSE_LIMIT, browser.connection.execute(&dispose)).await;
    let freed = async {
        while held_by_shared(browser.group) + limit / GUILTY_PART > held {
            tokio::time::sleep(crate::LOOK_AGAIN).await;
        }
    };
    let verdict = match tokio::time::timeout(FREEING_LIMIT, freed).await {
        Ok(()) => Verdict::Guilty,
        Err(_) => Verdict::Innocent,
    };
    let disposed = disposed.is_ok();
    tracing::warn!(
        held,
        limit,
        ?verdict,
        disposed,
        "a session was ended for the browser's memory"
    );
    suspect.verdict.send_replace(verdict);
}

/// Resident bytes of the processes that sessions share.
fn held_by_shared(browser: Pid) -> u64 {
    let shared = processes::shared(browser).into_iter().chain([browser]);
    shared.filter_map(|pid| Some(processes::memory(pid)?.resident)).sum()
}

fn living(browser: &Weak<Browser>) -> Option<Arc<Browser>> {
    browser.upgrade().filter(|browser| !browser.exited.is_cancelled())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
