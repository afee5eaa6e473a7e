//! Prints one part: everything that needs the browser, from the empty page to the printed bytes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_pdf::PageFacts;
use tokio::time::timeout_at;

use crate::{
    addresses::{may_hold_addresses, may_make_addresses},
    error::{RenderError, RenderProblem},
    header_footer::{self, Fields},
    job::{Part, Phase, Warning},
    network,
    page_kind::PageKind,
    printed_page::PageAccess,
    render::Render,
    session::{Session, SessionDisposition},
    steps::{
        StepError, console,
        evaluate::{self, PageReport},
        load,
        print::{self, Printing, Transfer},
        settle::settle,
        wait_for,
    },
};

/// Size of HTML, in bytes, up to which few printed documents exceed one DevTools message.
const SMALL_HTML: usize = 256 << 10;

/// A printed part, before it is completed.
pub(crate) struct Printed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) facts: PageFacts,
    pub(crate) warnings: Vec<Warning>,
    /// Whether the cookie's domain matched and the cookie was set.
    pub(crate) cookie_set: bool,
    /// How to ask the page about the finished document, if that is possible.
    pub(crate) page: Option<PageAccess>,
    /// Time to load the page, with `evaluate_js` and `wait_for`.
    pub(crate) loaded_in: Duration,
}

/// A page that is ready to print.
pub(crate) struct Loaded {
    report: PageReport,
    warnings: Vec<Warning>,
    /// See [`Printed::cookie_set`].
    cookie_set: bool,
}

/// Result of inspecting a session after a part has ended.
pub(crate) struct LookBack {
    warnings: Vec<Warning>,
    pub(crate) disposition: SessionDisposition,
    /// Whether servers sent anything.
    pub(crate) has_received: bool,
}

/// Whether a page may reach servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    /// As the guard allows.
    Guarded,
    Refused,
}

impl Render<'_> {
    /// Prints a part of the job, with header and footer unless these are printed apart, and drawn once all parts are printed.
    /// Retries if the page kind or the transfer proves unsuitable, or the browser fails.
    pub(crate) async fn print_part(&self, index: usize) -> Result<Printed, RenderError> {
        self.progress.enter(index, Phase::Load);
        let part = &self.job.parts[index];
        let mut kind = PageKind::of(self.job, part);
        let mut is_too_large_at_once = false;
        let mut failures = 0;
        loop {
            let watch = may_ask_network(kind, part);
            let transfer = if is_too_large_at_once {
                Transfer::InPieces
            } else {
                transfer(kind, part, watch)
            };
            let mut attempt = self.attempt(kind, failures).await?;
            let session = attempt.lease.session();
            let outcome = timeout_at(self.ends_at.into(), self.take_steps(session, index, watch, transfer)).await;
            match outcome {
                Ok(Err(StepError::AwaitsFrames)) => {
                    kind = PageKind::Composited;
                    continue;
                }
                Ok(Err(StepError::TooLargeAtOnce)) => {
                    is_too_large_at_once = true;
                    continue;
                }
                _ => {}
            }
            let seen = self.look_back(session, index).await;
            match outcome {
                Err(_) => return Err(self.late()),
                Ok(Ok(mut printed)) => {
                    printed.page = self.leave(index, attempt.lease, &printed, &seen);
                    printed.warnings.extend(seen.warnings);
                    return Ok(printed);
                }
                Ok(Err(error)) => failures = self.recover(index, attempt, error).await?,
            }
        }
    }

    /// Records requests and console messages of the part, whether it succeeded or failed, and returns its warnings and
    /// what to do with the session.
    async fn look_back(&self, session: &Session, index: usize) -> LookBack {
        let (requests, dialogs, remote_document) = session.observer.look(|page| {
            let requests = page.requests.drain(..).map(|logged| logged.request).collect();
            (requests, page.dialogs, page.remote_document)
        });
        let connections = session.proxy.take_log();
        let requests = network::with_reasons(requests, index, &connections);
        let mut warnings: Vec<_> = network::warnings(&requests).collect();
        if dialogs > 0 {
            warnings.push(Warning {
                code: "dialog_dismissed",
                message: format!("{dialogs} dialogs were dismissed"),
            });
        }
        let embedded = self.embedded.iter().filter(|request| request.part == index);
        self.log
            .note_requests(index, requests.into_iter().chain(embedded.cloned()).collect());
        if session.kind.runs_scripts() && session.is_alive() {
            let messages = console::messages(session, index).await;
            self.log.note_console(index, messages);
        }
        // Data from the network may leave traces, if only through a header: cookies, HSTS, authentication caches and
        // partitioned storage can't be cleared reliably.
        let is_url = matches!(self.job.parts[index], Part::Url(_));
        let has_received = connections.bytes_received > 0;
        LookBack {
            warnings,
            has_received,
            disposition: if remote_document || is_url || has_received {
                SessionDisposition::Destroy
            } else {
                SessionDisposition::Keep
            },
        }
    }

    /// Loads a part, evaluates `evaluate_js` and awaits `wait_for`. `watch` enables reports of network requests. `enter` is
    /// called with the phases after [`Phase::Load`].
    pub(crate) async fn load(
        &self,
        session: &mut Session,
        index: usize,
        watch: bool,
        servers: Servers,
        enter: impl Fn(Phase),
    ) -> Result<Loaded, StepError> {
        let job = self.job;
        let part = &job.parts[index];
        let mut warnings = Vec::new();
        let mut cookie_set = false;
        session.begin(index, job.media, watch).await?;
        if servers == Servers::Refused {
            session.proxy.refuse_servers();
        }
        let mut report = match part {
            Part::Html(html) => {
                session.proxy.serve(job.assets.clone());
                put_in(session, part, html, &mut warnings).await?
            }
            Part::Url(address) => {
                if let Some(cookie) = &job.cookie {
                    cookie_set = load::set_cookie(session, cookie, address).await?;
                }
                load::navigate(session, address).await?;
                arrive(session, part, &mut warnings).await?
            }
        };
        if let Some(expression) = &job.evaluate {
            enter(Phase::Evaluate);
            evaluate::evaluate(session, expression).await?;
            report = arrive(session, part, &mut warnings).await?;
        }
        if let Some(wanted) = &job.wait_for {
            enter(Phase::Wait);
            wait_for::wait_for(session, wanted).await?;
            // The title may have changed meanwhile, and images and fonts may have been added.
            report = arrive(session, part, &mut warnings).await?;
        }
        Ok(Loaded {
            report,
            warnings,
            cookie_set,
        })
    }

    /// Runs all steps of one attempt.
    async fn take_steps(
        &self,
        session: &mut Session,
        index: usize,
        watch: bool,
        transfer: Transfer,
    ) -> Result<Printed, StepError> {
        let job = self.job;
        let part = &job.parts[index];
        let began = Instant::now();
        let Loaded {
            report,
            mut warnings,
            cookie_set,
        } = self
            .load(session, index, watch, Servers::Guarded, |phase| {
                self.progress.enter(index, phase);
            })
            .await?;
        let loaded_in = began.elapsed();
        let PageReport {
            mut facts,
            missing_fonts,
            broken_images,
            ..
        } = report;
        warnings.extend(missing_fonts.iter().map(font_substituted));
        warnings.extend(session.observer.look(|page| {
            let requests = page.requests.iter().map(|logged| &logged.request);
            network::broken_images(&broken_images, requests)
        }));
        facts.fallback_language.clone_from(&job.language);
        self.entered.accepted().await;
        self.progress.enter(index, Phase::Print);
        let header_footer = job.print.header_footer.as_ref().filter(|_| !self.has_stamps);
        let templates = match header_footer {
            Some(wanted) => {
                let fields = Fields::of(part, &facts, self.instant, None);
                let filled = self.fill_templates(wanted, vec![fields]).await?;
                warnings.extend(filled.warnings);
                filled.templates.into_iter().next().map(Arc::unwrap_or_clone)
            }
            None => None,
        };
        facts.has_running_text = self.is_running_text_known && templates.as_ref().is_some_and(header_footer::have_text);
        settle(session).await?;
        let printing = Printing::document(&job.print, templates, transfer);
        let bytes = print::print(session, &printing, &self.printed).await?;
        // The printed document is certainly that of the part only if the page has not navigated.
        stays_put(session, part)?;
        Ok(Printed {
            bytes,
            facts,
            warnings,
            cookie_set,
            page: None,
            loaded_in,
        })
    }
}

/// Returns whether the part may make network requests, which must then be observed.
pub(crate) fn may_ask_network(kind: PageKind, part: &Part) -> bool {
    let Part::Html(html) = part else { return true };
    match kind {
        PageKind::ScriptFree => may_hold_addresses(html),
        PageKind::Scripted => may_hold_addresses(html) || may_make_addresses(html),
        // Not all scripts are part of the HTML.
        PageKind::Composited => true,
    }
}

/// Returns whether the page may set its own margins by `@page`, as far as its source shows, or loads style sheets or scripts that may.
/// CPU-bound.
pub(crate) fn may_set_margins(part: &Part) -> bool {
    let Part::Html(html) = part else { return true };
    let html = html.to_ascii_lowercase();
    let has = |start: &str, end: char, word: &str| {
        let mut rest = html.split(start).skip(1);
        rest.any(|rest| rest.split(end).next().is_some_and(|inner| inner.contains(word)))
    };
    html.contains("@import")
        || has("@page", '}', "margin")
        || has("<link", '>', "stylesheet")
        || has("<script", '>', "src")
}

/// Returns how to transfer the printed document. A part that can be printed again without side effects, because neither
/// it nor its scripts reach the network, and is likely to be small, is transferred in one message.
fn transfer(kind: PageKind, part: &Part, may_ask_network: bool) -> Transfer {
    match part {
        Part::Html(html) if html.len() <= SMALL_HTML && kind != PageKind::Composited && !may_ask_network => {
            Transfer::AtOnce
        }
        Part::Html(_) | Part::Url(_) => Transfer::InPieces,
    }
}

/// Loads HTML and waits until the page is ready. Sends all requests at once, because each exchange costs two context
/// switches.
async fn put_in(
    session: &Session,
    part: &Part,
    html: &str,
    warnings: &mut Vec<Warning>,
) -> Result<PageReport, StepError> {
    let put = load::put_content(session, html).await?;
    let report = evaluate::report_once_loaded(session).await?;
    put.await?;
    let unanswered = load::wait_until_loaded(session, false).await?;
    let report = match unanswered {
        None => match evaluate::in_time(session, report).await? {
            PageReport { is_early: true, .. } => evaluate::report(session).await?,
            report => report,
        },
        Some(unanswered) => {
            warnings.push(unanswered);
            evaluate::report(session).await?
        }
    };
    warnings.extend(report.incomplete.then(resource_timeout));
    stays_put(session, part)?;
    Ok(report)
}

/// Waits until the page is ready, follows client-side redirects of a URL part, and reads the page's report.
async fn arrive(session: &Session, part: &Part, warnings: &mut Vec<Warning>) -> Result<PageReport, StepError> {
    let mut report = PageReport::default();
    for _ in 0..load::CLIENT_REDIRECT_LIMIT {
        let is_url = matches!(part, Part::Url(_));
        let unanswered = load::wait_until_loaded(session, is_url).await?;
        let gave_up = unanswered.is_some();
        warnings.extend(unanswered);
        if is_url {
            load::check_answer(session)?;
        }
        let seen = session.observer.look(|page| page.navigations);
        report = evaluate::report(session).await?;
        warnings.extend(report.incomplete.then(resource_timeout));
        stays_put(session, part)?;
        // By now, any navigation that the page starts right after loading has been observed.
        let has_left = session
            .observer
            .look(|page| page.is_on_its_way() || page.navigations != seen);
        if gave_up || !is_url || !has_left {
            break;
        }
    }
    Ok(report)
}

/// Fails if scripts of an HTML part have navigated to another address: that page is not the document that the caller
/// sent. A navigation that is only pending fails too, so that the result doesn't depend on timing. URL parts pass.
fn stays_put(session: &Session, part: &Part) -> Result<(), StepError> {
    let Part::Html(_) = part else { return Ok(()) };
    let away = session.observer.look(|page| {
        let leaving = page.navigation_pending.clone().filter(|url| url.starts_with("http"));
        page.address.clone().or(leaving)
    });
    match away {
        Some(url) => Err(RenderProblem::NavigatedAway { url }.into()),
        None => Ok(()),
    }
}

fn resource_timeout() -> Warning {
    Warning {
        code: "resource_timeout",
        message: "a font or an image did not load in time and may be missing".to_owned(),
    }
}

fn font_substituted(list: &String) -> Warning {
    Warning {
        code: "font_substituted",
        message: format!("no font of “{list}” is available; a fallback font was used"),
    }
}
