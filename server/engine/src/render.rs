//! One render: admission, its parts in sessions, assembly.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use platen_pdf::check::Conformance;
use platen_pdf::{Assembly, Completed, PageSelection, PdfError, PrintedPart, Stamps};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    job::{
        Caller, NetworkRequest, Phase, REQUEST_LOG_LIMIT, RenderError, RenderFault, RenderJob, RenderedDocument,
        Warning,
    },
    numbering::StampPages,
    part::Printed,
    pool::Lease,
    progress::Progress,
    steps::StepError,
};

/// A render whose browser died is tried once more on another before anybody hears of it.
const TRIES: usize = 2;
/// A renderer that ends so soon was ill before it got the page, which is then tried once more on another.
const TOO_SOON_TO_CRASH: Duration = Duration::from_millis(500);

/// A render under way.
pub(crate) struct Render<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) caller: Caller,
    pub(crate) job: &'a RenderJob,
    /// One moment for the whole document.
    pub(crate) instant: OffsetDateTime,
    pub(crate) progress: Progress,
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

/// Width and height of each page of each part, in points.
type Sizes = Vec<Vec<(f64, f64)>>;

pub(crate) async fn render(engine: &Engine, caller: Caller, job: RenderJob) -> Result<RenderedDocument, RenderError> {
    let render = Render {
        engine,
        caller,
        job: &job,
        instant: OffsetDateTime::now_utc(),
        progress: Progress::start(job.parts.len()),
    };
    match tokio::time::timeout(job.deadline, render.run()).await {
        Ok(result) => result,
        Err(_) => Err(RenderError::Deadline {
            phase: render.progress.phase(),
            after: job.deadline,
        }),
    }
}

impl Render<'_> {
    async fn run(&self) -> Result<RenderedDocument, RenderError> {
        let _slot = self.engine.admission.enter(self.caller, self.job.lane).await?;
        let printed = self.print_parts().await?;
        let (printed, sizes) = measure(printed).await?;
        self.check_page_limit(&sizes)?;
        let mut warnings = self.cookie_warning(&printed);
        let stamps = if self.job.parts.len() > 1 {
            self.print_headers_and_footers(&printed, &sizes, &mut warnings).await?
        } else {
            Vec::new()
        };
        self.progress.enter_together(Phase::Post);
        self.assemble(printed, stamps, &sizes, warnings).await
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
                    slot = self.engine.admission.enter_again(self.caller.account, self.job.lane) => Some(slot?),
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

    fn check_page_limit(&self, sizes: &Sizes) -> Result<(), RenderError> {
        let limit = self.job.page_limit;
        let pages = sizes.iter().map(Vec::len).sum();
        if pages <= limit {
            return Ok(());
        }
        let fault = RenderFault::TooManyPages { pages, limit };
        let part = part_of_page(sizes, limit + 1);
        Err(RenderError::Fault { part, fault })
    }

    fn cookie_warning(&self, printed: &[Printed]) -> Vec<Warning> {
        let is_unused = self.job.cookie.is_some() && !printed.iter().any(|part| part.cookie_set);
        let warning = is_unused.then(|| Warning {
            code: "cookie_unused",
            message: "set_cookie.domain matches no URL part; the cookie was not set".to_owned(),
        });
        warning.into_iter().collect()
    }

    async fn assemble(
        &self,
        mut printed: Vec<Printed>,
        stamps: Vec<StampPages>,
        sizes: &Sizes,
        mut warnings: Vec<Warning>,
    ) -> Result<RenderedDocument, RenderError> {
        let requests = take_requests(&mut printed);
        take_warnings(&mut printed, &mut warnings);
        let title = printed.first().and_then(|part| part.facts.title.as_deref());
        let title = title
            .map(str::trim)
            .filter(|title| !title.is_empty())
            .map(ToOwned::to_owned);
        let (selection, format, instant) = (self.job.selection.clone(), self.job.format, self.instant);
        let assembled = blocking(move || {
            platen_pdf::assemble(&Assembly {
                parts: printed
                    .iter_mut()
                    .map(|part| PrintedPart {
                        facts: std::mem::take(&mut part.facts),
                        bytes: &part.bytes,
                    })
                    .collect(),
                stamps: stamps
                    .iter()
                    .map(|stamp| Stamps {
                        bytes: &stamp.bytes,
                        pages: stamp.pages.clone(),
                    })
                    .collect(),
                selection,
                format,
                instant,
            })
        })
        .await?;
        let Completed {
            bytes: pdf,
            conformance,
            page_count,
            warnings: more,
        } = assembled.map_err(|error| self.blame(&error, sizes))?;
        warnings.extend(more.into_iter().map(|warning| Warning {
            code: warning.code,
            message: warning.message,
        }));
        Ok(RenderedDocument {
            pdf,
            conformance: conformance.map(Conformance::name),
            page_count,
            title,
            phases: self.progress.finish(),
            warnings,
            requests,
        })
    }

    /// Tells what the caller can mend from what he can't.
    fn blame(&self, error: &PdfError, sizes: &Sizes) -> RenderError {
        match *error {
            PdfError::PageSize { page, width, height } => {
                let printed = nth_kept(self.job.selection.as_ref(), page);
                let part = part_of_page(sizes, printed);
                let fault = RenderFault::PageSize { page, width, height };
                RenderError::Fault { part, fault }
            }
            PdfError::PageBeyondEnd { page, page_count } => {
                let fault = RenderFault::PageBeyondEnd { page, page_count };
                RenderError::Fault { part: 0, fault }
            }
            PdfError::TooLarge { .. } => {
                let fault = RenderFault::TooLarge {
                    reason: error.to_string(),
                };
                RenderError::Fault { part: 0, fault }
            }
            PdfError::NotConformant { ref message, .. } => {
                let fault = RenderFault::NotConformant {
                    reason: message.clone(),
                };
                RenderError::Fault { part: 0, fault }
            }
            PdfError::Damaged { .. } | PdfError::StampCount { .. } => RenderError::Browser(error.to_string()),
        }
    }
}

/// The printed parts with the sizes of their pages.
async fn measure(printed: Vec<Printed>) -> Result<(Vec<Printed>, Sizes), RenderError> {
    let (printed, sizes) = blocking(move || {
        let sizes: Result<Sizes, PdfError> = printed.iter().map(|part| platen_pdf::page_sizes(&part.bytes)).collect();
        (printed, sizes)
    })
    .await?;
    Ok((printed, sizes.map_err(|error| RenderError::Browser(error.to_string()))?))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RenderError> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|error| RenderError::Browser(error.to_string()))
}

/// The part that has a page of the joined document, numbered from 1.
fn part_of_page(sizes: &Sizes, page: usize) -> usize {
    let mut before = 0;
    let part = sizes.iter().position(|part| {
        before += part.len();
        page <= before
    });
    part.unwrap_or_default()
}

/// The number, in the joined document, of a page of the delivered one.
fn nth_kept(selection: Option<&PageSelection>, page: usize) -> usize {
    match selection {
        None => page,
        Some(selection) => (1..=selection.last())
            .filter(|page| selection.contains(*page))
            .nth(page.saturating_sub(1))
            .unwrap_or(page),
    }
}

fn take_requests(printed: &mut [Printed]) -> Vec<NetworkRequest> {
    let requests = printed.iter_mut().flat_map(|part| std::mem::take(&mut part.requests));
    requests.take(REQUEST_LOG_LIMIT).collect()
}

/// Of several parts, a warning says which it means.
fn take_warnings(printed: &mut [Printed], warnings: &mut Vec<Warning>) {
    let is_only = printed.len() == 1;
    for (index, part) in printed.iter_mut().enumerate() {
        warnings.extend(part.warnings.drain(..).map(|warning| Warning {
            message: if is_only {
                warning.message
            } else {
                format!("part {}: {}", index + 1, warning.message)
            },
            ..warning
        }));
    }
}
