//! One render: admission, its parts in sessions, and what follows.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine, Entered,
    error::{RenderError, RenderFault},
    job::{Caller, Phase, RenderJob, RenderedDocument, Warning},
    part::Printed,
    pool::lease::Lease,
    progress::Progress,
    render_log::RenderLog,
    steps::StepError,
};

/// A render whose browser died is tried once more on another before anybody hears of it.
const TRIES: usize = 2;
/// A renderer that ends so soon was ill before it got the page, which is then tried once more on another.
const TOO_SOON_TO_CRASH: Duration = Duration::from_millis(500);

/// A render under way.
pub(crate) struct Render<'a> {
    entered: &'a Entered,
    pub(crate) engine: &'a Engine,
    pub(crate) caller: Caller,
    pub(crate) job: &'a RenderJob,
    /// One moment for the whole document.
    pub(crate) instant: OffsetDateTime,
    pub(crate) progress: Progress,
    pub(crate) ends_at: Instant,
    pub(crate) log: &'a RenderLog,
}

/// Work in a session, which may have to be done again in another.
pub(crate) struct Attempt {
    pub(crate) lease: Lease,
    number: usize,
    since: Instant,
}

/// The parts that nobody prints yet.
struct PartQueue {
    next: AtomicUsize,
    is_empty: CancellationToken,
}

pub(crate) async fn render(
    entered: &Entered,
    job: RenderJob,
    log: &RenderLog,
) -> Result<RenderedDocument, RenderError> {
    let render = Render {
        entered,
        engine: &entered.engine,
        caller: entered.caller,
        job: &job,
        instant: OffsetDateTime::now_utc(),
        progress: Progress::start(job.parts.len()),
        ends_at: entered.ends_at,
        log,
    };
    let result = tokio::time::timeout_at(render.ends_at.into(), render.run()).await;
    let result = result.unwrap_or_else(|_| Err(render.late()));
    log.add_times(render.progress.finish());
    result
}

impl Render<'_> {
    async fn run(&self) -> Result<RenderedDocument, RenderError> {
        let printed = self.print_parts().await?;
        let mut warnings = self.cookie_warning(&printed);
        let (printed, stamps) = self.number(printed, &mut warnings).await?;
        self.progress.enter_together(Phase::Post);
        self.assemble(printed, stamps, warnings).await
    }

    /// The deadline has passed.
    pub(crate) fn late(&self) -> RenderError {
        self.entered.late(self.progress.phase())
    }

    /// Prints every part, several at once.
    async fn print_parts(&self) -> Result<Vec<Printed>, RenderError> {
        let count = self.job.parts.len();
        let queue = PartQueue {
            next: AtomicUsize::new(0),
            is_empty: CancellationToken::new(),
        };
        let at_once = self.engine.parts_at_once.min(self.caller.concurrency).min(count).max(1);
        let printed = try_join_all((0..at_once).map(|worker| self.print_next_parts(worker, &queue))).await?;
        let mut printed: Vec<(usize, Printed)> = printed.into_iter().flatten().collect();
        printed.sort_unstable_by_key(|(index, _)| *index);
        Ok(printed.into_iter().map(|(_, printed)| printed).collect())
    }

    /// The first worker goes on with the render's own slot. The others take one for each part, in turn with everybody
    /// who waits, so that a render of many parts slows nobody down for longer than a part takes.
    async fn print_next_parts(&self, worker: usize, queue: &PartQueue) -> Result<Vec<(usize, Printed)>, RenderError> {
        let mut printed = Vec::new();
        loop {
            let _slot = if worker == 0 {
                None
            } else {
                tokio::select! {
                    () = queue.is_empty.cancelled() => break,
                    slot = self.engine.admission.enter_again(self.caller.account, self.entered.lane) => Some(slot?),
                }
            };
            let index = queue.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.job.parts.len() {
                queue.is_empty.cancel();
                break;
            }
            printed.push((index, self.print_part(index).await?));
        }
        Ok(printed)
    }

    /// What to do after an error in a session: fails, or returns so that the work can be tried once more in another.
    /// `part` is the one that is to blame. The lease is dropped, and with it the session, which nobody can vouch for any
    /// more.
    pub(crate) async fn recover(&self, part: usize, attempt: Attempt, error: StepError) -> Result<(), RenderError> {
        let Attempt {
            mut lease,
            number,
            since,
        } = attempt;
        let fault = |fault| Err(RenderError::Fault { part, fault });
        match error {
            StepError::Fault(RenderFault::Crashed) if lease.session().browser.killed_for_memory() => {
                let limit_mb = self.engine.page_memory_limit >> 20;
                return fault(RenderFault::MemoryExceeded { limit_mb });
            }
            StepError::Fault(RenderFault::Crashed)
                if (number == TRIES || since.elapsed() > TOO_SOON_TO_CRASH)
                    && !lease.session().browser.is_dying().await =>
            {
                return fault(RenderFault::Crashed);
            }
            StepError::BrowserGone | StepError::Fault(RenderFault::Crashed) if number < TRIES => {}
            StepError::BrowserGone | StepError::Fault(RenderFault::Crashed) => {
                return Err(RenderError::Browser("it died twice".to_owned()));
            }
            StepError::Fault(found) => return fault(found),
            StepError::Protocol(message) => return Err(RenderError::Browser(message)),
        }
        tracing::warn!(render = %self.job.id, "the browser failed a render, which is tried once more");
        Ok(())
    }

    /// Lends a session of the account for the next attempt; attempts are numbered from 1.
    pub(crate) async fn attempt(&self, number: usize) -> Result<Attempt, RenderError> {
        Ok(Attempt {
            lease: self.engine.pool.lease(self.caller.account).await?,
            number,
            since: Instant::now(),
        })
    }

    fn cookie_warning(&self, printed: &[Printed]) -> Vec<Warning> {
        let is_unused = self.job.cookie.is_some() && !printed.iter().any(|part| part.cookie_set);
        let warning = is_unused.then(|| Warning {
            code: "cookie_unused",
            message: "set_cookie.domain matches no URL part; the cookie was not set".to_owned(),
        });
        warning.into_iter().collect()
    }
}
