//! Pages of printed parts. They are asked for selectors once the document is examined, if there are findings.
//!
//! The page of the only part stays leased until then. Pages of several parts would be as many sessions, so a part whose
//! loading has no effects outside of its page is loaded again. Other pages are held, as far as the pool has room.

use std::{
    mem,
    time::{Duration, Instant},
};

use platen_pdf::{OutputFormat, check::levels::Finding};
use tokio::time::timeout_at;

use crate::{
    error::RenderProblem,
    page_kind::PageKind,
    part::{LookBack, Printed, may_ask_network},
    pool::{held::HeldPage, lease::Lease},
    render::Render,
    session::{PRINTED_BYTES_THAT_RETIRE, SessionDisposition},
    steps::{StepError, selectors, settle::settle},
};

/// Maximum time to wait for the selectors of elements that violate rules in a part. They usually take 3 to 10 ms, and as
/// long as the part took to load if it is loaded again.
const SELECTORS_LIMIT: Duration = Duration::from_millis(500);
/// Maximum time to wait for the selectors of all parts.
const ALL_SELECTORS_LIMIT: Duration = Duration::from_secs(1);
/// Time to load a part above which it is not loaded again.
const LOAD_AGAIN_LIMIT: Duration = Duration::from_millis(300);

/// How to ask the page of a printed part.
pub(crate) enum PageAccess {
    /// It is leased.
    Leased(PrintedPage),
    /// It is held.
    Held(HeldPage),
    /// Its part is loaded again in a page of this kind.
    LoadAgain(PageKind),
}

/// A page with the content of a printed part. Its session is returned to the pool on drop.
pub(crate) struct PrintedPage {
    lease: Option<Lease>,
    disposition: SessionDisposition,
}

impl PrintedPage {
    /// Adds selectors to findings in this part.
    async fn add_selectors(&mut self, findings: &mut [Finding], part: usize) {
        let Some(lease) = &mut self.lease else { return };
        // The page may be busy, or in an unknown state, unless all is done in time, also if the render is cancelled.
        let disposition = mem::replace(&mut self.disposition, SessionDisposition::Destroy);
        if selectors::add_selectors(lease.session(), findings, part).await.is_ok() {
            self.disposition = disposition;
        }
    }
}

impl Drop for PrintedPage {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.give_back(self.disposition);
        }
    }
}

impl Render<'_> {
    /// Leaves the page of a printed part, and returns how to ask it later; `None` if that is not possible. The session is
    /// returned to the pool, unless the page has to be asked there.
    pub(crate) async fn leave(&self, mut lease: Lease, printed: &Printed, seen: &LookBack) -> Option<PageAccess> {
        let kind = lease.session().kind;
        let is_archival = self.job.format == OutputFormat::PdfA2b;
        let is_only = self.job.parts.len() == 1;
        let is_used_up = seen.disposition == SessionDisposition::Destroy;
        if is_archival && !is_only && is_used_up {
            return self.engine.pool.hold(lease).await.map(PageAccess::Held);
        }
        let is_large = printed.bytes.len() > PRINTED_BYTES_THAT_RETIRE;
        let page = PrintedPage {
            lease: Some(lease),
            disposition: if is_large {
                SessionDisposition::Destroy
            } else {
                seen.disposition
            },
        };
        if is_archival && is_only {
            return Some(PageAccess::Leased(page));
        }
        let may_load_again = is_archival && seen.has_sent_nothing && printed.loaded_in <= LOAD_AGAIN_LIMIT;
        may_load_again.then_some(PageAccess::LoadAgain(kind))
    }

    /// Adds selectors to findings, as far as they are found in time. `pages` are those of all parts.
    pub(crate) async fn add_selectors(&self, pages: Vec<Option<PageAccess>>, findings: &mut [Finding]) {
        let has_findings = |part: usize| {
            let mut elements = findings.iter().filter_map(|finding| finding.element.as_ref());
            elements.any(|element| element.part == Some(part))
        };
        let pages = (0..).zip(pages).filter(|(part, _)| has_findings(*part));
        let mut pages: Vec<_> = pages.filter_map(|(part, page)| Some((part, page?))).collect();
        // Pages that are loaded again may take the places of those that are held.
        pages.sort_by_key(|(_, page)| matches!(page, PageAccess::LoadAgain(_)));
        let ends_at = Instant::now() + ALL_SELECTORS_LIMIT.min(half_until(self.ends_at));
        for (part, page) in pages {
            let now = Instant::now();
            if now >= ends_at {
                break;
            }
            let ends_at = ends_at.min(now + SELECTORS_LIMIT);
            let added = timeout_at(ends_at.into(), async {
                if let Some(mut page) = self.return_to(page, part).await {
                    page.add_selectors(findings, part).await;
                }
            });
            // The findings of the part have no selectors.
            let _ = added.await;
        }
    }

    /// Returns the page of a part, or one with the same content. `None` if there is none.
    async fn return_to(&self, page: PageAccess, part: usize) -> Option<PrintedPage> {
        let (lease, disposition) = match page {
            PageAccess::Leased(page) => return Some(page),
            PageAccess::Held(page) => (page.lease()?, SessionDisposition::Destroy),
            // Few renders need the memory of this future.
            PageAccess::LoadAgain(kind) => Box::pin(self.load_again(part, kind)).await?,
        };
        Some(PrintedPage {
            lease: Some(lease),
            disposition,
        })
    }

    /// Loads a part that has been printed. Neither its requests nor its messages are logged.
    async fn load_again(&self, part: usize, kind: PageKind) -> Option<(Lease, SessionDisposition)> {
        let mut lease = self.engine.pool.lease(self.caller.account, kind).await.ok()?;
        let session = lease.session();
        let watch = may_ask_network(kind, &self.job.parts[part]);
        let loaded = match self.load(session, part, watch, |_| ()).await {
            Ok(_) => settle(session).await,
            Err(error) => Err(error),
        };
        if let Err(error) = loaded {
            // The next crash of a page has another cause.
            if matches!(error, StepError::Problem(RenderProblem::Crashed)) {
                session.browser.take_memory_kill();
            }
            return None;
        }
        // The pool destroys sessions that have received data. Those of an unknown document are destroyed here.
        let is_remote = session.observer.look(|page| page.remote_document);
        let disposition = if is_remote {
            SessionDisposition::Destroy
        } else {
            SessionDisposition::Keep
        };
        Some((lease, disposition))
    }
}

/// Returns half of the time until a render's deadline: selectors never fail a document.
fn half_until(ends_at: Instant) -> Duration {
    ends_at.saturating_duration_since(Instant::now()) / 2
}
