//! Runs a render: prints its parts in sessions, retries after browser failures, assembles the document.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use platen_pdf::OutputFormat;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine, Entered,
    assembly::blocking,
    asset_embedding,
    browser::memory::Verdict,
    error::{RenderError, RenderProblem},
    header_footer::{self, RunningText},
    job::{Caller, Phase, RenderJob, RenderedDocument, Warning},
    page_kind::PageKind,
    part::{Printed, may_set_margins},
    pool::lease::Lease,
    progress::Progress,
    render_log::{NetworkRequest, RenderLog},
    steps::{StepError, print::PrintedBytes},
};

/// Attempts per part: if the browser dies, the part is retried once in another browser before an error is reported.
const TRIES: usize = 2;
/// A renderer process that ends sooner than this was probably unhealthy before it received the page, which is retried.
const TOO_SOON_TO_CRASH: Duration = Duration::from_millis(500);

/// A render in progress.
pub(crate) struct Render<'a> {
    pub(crate) entered: &'a Entered,
    pub(crate) engine: &'a Engine,
    pub(crate) caller: Caller,
    pub(crate) job: &'a RenderJob,
    /// The assets that are embedded in the parts.
    pub(crate) embedded: Vec<NetworkRequest>,
    /// Time of the render, the same for the whole document.
    pub(crate) instant: OffsetDateTime,
    pub(crate) progress: Progress,
    pub(crate) ends_at: Instant,
    pub(crate) log: &'a RenderLog,
    /// Budget of printed bytes, shared by all parts.
    pub(crate) printed: PrintedBytes,
    /// Whether header and footer are printed apart from the parts.
    pub(crate) has_stamps: bool,
    /// Whether header and footer of an archive's only part draw all of their text.
    pub(crate) is_running_text_known: bool,
}

/// An attempt in a session, which may have to be repeated in another.
pub(crate) struct Attempt {
    pub(crate) lease: Lease,
    /// Earlier attempts that failed because of the browser.
    failures: usize,
    since: Instant,
}

/// The parts that no worker has taken yet.
struct PartQueue {
    next: AtomicUsize,
    is_empty: CancellationToken,
}

pub(crate) async fn render(
    entered: &Entered,
    job: RenderJob,
    log: &RenderLog,
) -> Result<RenderedDocument, RenderError> {
    if let Some(wanted) = &job.print.header_footer {
        header_footer::check(wanted).map_err(|problem| RenderError::Problem { part: 0, problem })?;
    }
    // The render doesn't hold the memory of this future.
    let preparing = Box::pin(async {
        let (job, embedded) = asset_embedding::resolve(job).await?;
        let (has_stamps, is_running_text_known) = plan_running_text(&job).await?;
        Ok::<_, RenderError>((job, embedded, has_stamps, is_running_text_known))
    });
    let (job, embedded, has_stamps, is_running_text_known) = entered.within(Phase::Load, log, preparing).await??;
    let render = Render {
        entered,
        engine: &entered.engine,
        caller: entered.caller,
        job: &job,
        has_stamps,
        is_running_text_known,
        embedded,
        instant: OffsetDateTime::now_utc(),
        progress: Progress::start(job.parts.len()),
        ends_at: entered.ends_at,
        log,
        printed: PrintedBytes::new(job.printed_limit),
    };
    let result = tokio::time::timeout_at(render.ends_at.into(), render.run()).await;
    let result = result.unwrap_or_else(|_| Err(render.late()));
    log.add_times(render.progress.finish());
    result
}

/// Returns whether header and footer are printed apart from the parts, which takes as long as another part, and whether those of an
/// archive's only part draw all of their text.
///
/// They are printed apart if they continue through several parts, or if an archive's templates may hide text: on pages without tags, nothing
/// else tells whether the last text is that of the footer, which is an artifact, or of the page. Templates that depend on margins are
/// printed with a page that may set its own, because only Chromium knows them.
async fn plan_running_text(job: &RenderJob) -> Result<(bool, bool), RenderError> {
    let Some(wanted) = &job.print.header_footer else {
        return Ok((false, false));
    };
    let [part] = &job.parts[..] else {
        return Ok((true, false));
    };
    if job.format != OutputFormat::PdfA2b {
        return Ok((false, false));
    }
    let wanted = wanted.clone();
    match blocking(move || header_footer::running_text(&wanted)).await? {
        RunningText::Drawn => Ok((false, true)),
        RunningText::MayBeHidden => Ok((true, false)),
        RunningText::DependsOnMargins => {
            let part = part.clone();
            let may_set = job.evaluate.is_some() || blocking(move || may_set_margins(&part)).await?;
            Ok((!may_set, false))
        }
    }
}

impl Render<'_> {
    async fn run(&self) -> Result<RenderedDocument, RenderError> {
        let printed = self.print_parts().await?;
        let mut warnings = self.cookie_warning(&printed);
        let (printed, stamps) = self.number(printed, &mut warnings).await?;
        self.progress.enter_together(Phase::Post);
        self.assemble(printed, stamps, warnings).await
    }

    /// Returns the error of a render whose deadline has passed in the current phase.
    pub(crate) fn late(&self) -> RenderError {
        self.entered.late(self.progress.phase())
    }

    /// Prints all parts, several concurrently, and returns them in document order.
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

    /// Prints parts from `queue` until it is empty. The first worker uses the render's own slot. The others wait for a
    /// slot for each part, in the same queue as all renders, so that a render of many parts delays others by at most
    /// one part.
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
            self.log.note_printed();
        }
        Ok(printed)
    }

    /// Handles an error of an attempt: either fails, attributing the error to `part`, or returns the number of browser
    /// failures so far, so that the caller can retry in another session. Drops the lease, which destroys the session:
    /// its state is no longer known.
    pub(crate) async fn recover(&self, part: usize, attempt: Attempt, error: StepError) -> Result<usize, RenderError> {
        let Attempt {
            mut lease,
            failures,
            since,
        } = attempt;
        let session = lease.session();
        let is_last = failures + 1 == TRIES;
        match session.verdict().await {
            Verdict::Guilty => return Err(self.memory_exceeded(part)),
            // The session was ended only to find the page that uses too much memory; this doesn't count as a failure.
            Verdict::Innocent => return Ok(failures),
            Verdict::None | Verdict::Pending => {}
        }
        match error {
            StepError::Problem(RenderProblem::Crashed) if session.browser.take_memory_kill() => {
                return Err(self.memory_exceeded(part));
            }
            StepError::Problem(RenderProblem::Crashed)
                if (is_last || since.elapsed() > TOO_SOON_TO_CRASH) && !session.browser.is_dying().await =>
            {
                return Err(self.failed(part, error));
            }
            StepError::BrowserGone | StepError::Problem(RenderProblem::Crashed) if is_last => {
                return Err(self.failed(part, StepError::BrowserGone));
            }
            StepError::BrowserGone | StepError::Problem(RenderProblem::Crashed) => {}
            error => return Err(self.failed(part, error)),
        }
        tracing::warn!(render = %self.job.id, "browser failed during a render; retrying");
        Ok(failures + 1)
    }

    /// Converts the final error of a step, attributing it to `part`.
    pub(crate) fn failed(&self, part: usize, error: StepError) -> RenderError {
        match error {
            StepError::Problem(problem) => RenderError::Problem { part, problem },
            StepError::BrowserGone => RenderError::Browser("it crashed twice".to_owned()),
            StepError::Late => self.late(),
            error @ (StepError::AwaitsFrames | StepError::TooLargeAtOnce) => {
                RenderError::Browser(format!("unexpected {error:?}"))
            }
            StepError::Protocol(message) => RenderError::Browser(message),
        }
    }

    fn memory_exceeded(&self, part: usize) -> RenderError {
        let limit_mb = self.engine.page_memory_limit >> 20;
        RenderError::Problem {
            part,
            problem: RenderProblem::MemoryExceeded { limit_mb },
        }
    }

    /// Leases a session of the account for the next attempt.
    pub(crate) async fn attempt(&self, kind: PageKind, failures: usize) -> Result<Attempt, RenderError> {
        Ok(Attempt {
            lease: self.engine.pool.lease(self.caller.account, kind).await?,
            failures,
            since: Instant::now(),
        })
    }

    fn cookie_warning(&self, printed: &[Printed]) -> Vec<Warning> {
        let is_unused = self.job.cookie.is_some() && !printed.iter().any(|part| part.cookie_set);
        let warning = is_unused.then(|| Warning {
            code: "cookie_unused",
            message: "set_cookie.domain doesn't match any URL part; the cookie was not set".to_owned(),
        });
        warning.into_iter().collect()
    }
}
