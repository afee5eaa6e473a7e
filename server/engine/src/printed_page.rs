//! Pages of printed parts. They are asked for selectors once the document is examined, if there are findings.
//!
//! The page of the only part stays leased until then. Others would be as many sessions: HTML is loaded again
//! instead, without servers, so that none of them receives a request twice.

use std::{
    mem,
    time::{Duration, Instant},
};

use platen_pdf::{OutputFormat, check::levels::Finding};
use tokio::time::timeout_at;

use crate::{
    error::RenderProblem,
    job::Part,
    page_kind::PageKind,
    part::{LookBack, Printed, Servers, may_ask_network},
    pool::lease::Lease,
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
    async fn add_selectors(&mut self, findings: &mut [Finding], part: usize, is_complete: bool) {
        let Some(lease) = &mut self.lease else { return };
        // The page may be busy, or in an unknown state, unless all is done in time, also if the render is cancelled.
        let disposition = mem::replace(&mut self.disposition, SessionDisposition::Destroy);
        let added = selectors::add_selectors(lease.session(), findings, part, is_complete);
        if added.await.is_ok() {
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
    /// Leaves the page of a printed part, and returns how to ask it later; `None` if that is not possible. Unless it is the only
    /// part, and has its header and footer, its session is returned to the pool.
    pub(crate) fn leave(
        &self,
        index: usize,
        mut lease: Lease,
        printed: &Printed,
        seen: &LookBack,
    ) -> Option<PageAccess> {
        let kind = lease.session().kind;
        let is_large = printed.bytes.len() > PRINTED_BYTES_THAT_RETIRE;
        let page = PrintedPage {
            lease: Some(lease),
            disposition: if is_large {
                SessionDisposition::Destroy
            } else {
                seen.disposition
            },
        };
        if self.job.format != OutputFormat::PdfA2b {
            return None;
        }
        // Without servers, what it waits for may never happen.
        let awaits_servers = seen.has_received && self.job.wait_for.is_some();
        match &self.job.parts[index] {
            // Header and footer are printed in another session, which may have to wait for this one.
            _ if self.job.parts.len() == 1 && !self.has_stamps => Some(PageAccess::Leased(page)),
            Part::Html(_) if printed.loaded_in <= LOAD_AGAIN_LIMIT && !awaits_servers => {
                Some(PageAccess::LoadAgain(kind))
            }
            Part::Html(_) | Part::Url(_) => None,
        }
    }

    /// Adds selectors to findings, as far as they are found in time. `pages` are those of all parts.
    pub(crate) async fn add_selectors(&self, pages: Vec<Option<PageAccess>>, findings: &mut [Finding]) {
        let is_complete = self.job.selection.is_none();
        let until_deadline = self.ends_at.saturating_duration_since(Instant::now());
        // Selectors never fail a document.
        let ends_at = Instant::now() + ALL_SELECTORS_LIMIT.min(until_deadline / 2);
        for (part, page) in pages.into_iter().enumerate() {
            let mut elements = findings.iter().filter_map(|finding| finding.element.as_ref());
            let has_findings = elements.any(|element| element.part == Some(part));
            let Some(page) = page.filter(|_| has_findings) else {
                continue;
            };
            let now = Instant::now();
            if now >= ends_at {
                break;
            }
            let ends_at = ends_at.min(now + SELECTORS_LIMIT);
            let added = timeout_at(ends_at.into(), async {
                let page = match page {
                    PageAccess::Leased(page) => Some(page),
                    // Few renders need the memory of this future.
                    PageAccess::LoadAgain(kind) => Box::pin(self.load_again(part, kind)).await,
                };
                if let Some(mut page) = page {
                    page.add_selectors(findings, part, is_complete).await;
                }
            });
            // The findings of the part have no selectors.
            let _ = added.await;
        }
    }

    /// Loads HTML that has been printed. Neither its requests nor its messages are logged.
    async fn load_again(&self, part: usize, kind: PageKind) -> Option<PrintedPage> {
        let mut lease = self.engine.pool.lease(self.caller.account, kind).await.ok()?;
        let session = lease.session();
        let watch = may_ask_network(kind, &self.job.parts[part]);
        let loaded = match self.load(session, part, watch, Servers::Refused, |_| ()).await {
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
        // Those of an unknown document are not used again.
        let is_remote = session.observer.look(|page| page.remote_document);
        Some(PrintedPage {
            lease: Some(lease),
            disposition: if is_remote {
                SessionDisposition::Destroy
            } else {
                SessionDisposition::Keep
            },
        })
    }
}
