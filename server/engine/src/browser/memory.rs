//! Limits the memory of a browser's processes.
//!
//! A page has one renderer process, including its frames and workers (`chromium::FLAGS`), so the memory of a renderer
//! process is that of a page. Memory in the processes that pages share (blobs, request bodies and names in the browser
//! process, textures in the GPU process) can't be attributed to a page by the operating system. So the session that has
//! been rendering for the longest time is ended first; whether this frees memory shows whether it was responsible. If
//! it was not, its part is rendered again in another session.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use chromiumoxide_cdp::cdp::browser_protocol::{browser::BrowserContextId, target::DisposeBrowserContextParams};
use rustix::process::{Pid, Signal};
use tokio::{sync::watch, task::spawn_blocking};

use super::Browser;
use crate::{config::BROWSER_MEMORY, processes};

/// Interval of memory checks: a page that floods memory allocates 300 to 500 MB a second.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Time after a kill for memory within which a crash is attributed to that kill.
const KILL_WINDOW: Duration = Duration::from_secs(3);
/// Multiple of the limit of shared processes at which the browser is killed.
const HARD_LIMIT_FACTOR: u64 = 2;
/// Disposing of a context takes 20 ms, and up to 2.5 s after a flood of messages.
const DISPOSE_LIMIT: Duration = Duration::from_secs(5);
/// Time for freed memory to return to the system; textures take half a second.
const FREEING_LIMIT: Duration = Duration::from_secs(1);
/// Divisor of the page memory limit: a session is responsible if ending it frees at least this fraction.
const GUILTY_PART: u64 = 4;

/// A session of a browser, for the attribution of memory.
pub(crate) struct Occupant {
    context: BrowserContextId,
    at_work_since: Mutex<Option<Instant>>,
    verdict: watch::Sender<Verdict>,
}

/// Whether a session is responsible for the memory of shared processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not examined.
    None,
    /// The session is being ended to find out.
    Pending,
    /// Ending the session freed the memory.
    Guilty,
    /// Ending the session freed too little.
    Innocent,
}

/// The sessions of a browser, and the time of the last kill of a renderer process.
#[derive(Default)]
pub(super) struct Tenants {
    occupants: Mutex<Vec<Weak<Occupant>>>,
    last_kill: Mutex<Option<Instant>>,
}

impl Occupant {
    /// Records that the session has started a render.
    pub(crate) fn begin_work(&self) {
        lock(&self.at_work_since).get_or_insert_with(Instant::now);
    }

    /// Records that the session is idle.
    pub(crate) fn end_work(&self) {
        *lock(&self.at_work_since) = None;
    }

    /// Returns the verdict; waits for it while it is pending.
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
    /// Adds a session to those whose memory is watched, for as long as the returned value lives.
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

    /// Returns whether a renderer process was killed for its memory within [`KILL_WINDOW`]. Each kill is attributed to
    /// one crash only.
    pub(crate) fn take_memory_kill(&self) -> bool {
        let last = lock(&self.tenants.last_kill).take();
        last.is_some_and(|at| at.elapsed() < KILL_WINDOW)
    }
}

/// Kills renderer processes above `limit` bytes: `--max-old-space-size` limits neither typed arrays nor nodes nor
/// images.
pub(super) async fn watch_renderers(browser: Weak<Browser>, limit: u64) {
    let mut interval = tokio::time::interval(WATCH_INTERVAL);
    loop {
        interval.tick().await;
        let Some(browser) = living(&browser) else { return };
        // Hundreds of system calls, which would hold up the events of all connections.
        if spawn_blocking(move || kill_large_renderers(&browser, limit))
            .await
            .is_err()
        {
            return;
        }
    }
}

fn kill_large_renderers(browser: &Browser, limit: u64) {
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

/// Limits the memory that pages occupy in the browser and GPU processes: `limit` bytes above [`BROWSER_MEMORY`], which
/// the processes use themselves.
pub(super) async fn watch_shared(browser: Weak<Browser>, limit: u64) {
    let mut interval = tokio::time::interval(WATCH_INTERVAL);
    loop {
        interval.tick().await;
        let Some(browser) = living(&browser) else { return };
        let group = browser.group;
        let Ok(held) = spawn_blocking(move || held_by_shared(group)).await else {
            return;
        };
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
            // No active session is responsible: replace the browser, which fails no render.
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
        "session ended because of the browser's memory"
    );
    suspect.verdict.send_replace(verdict);
}

/// Returns the resident memory, in bytes, of the processes that sessions share.
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
