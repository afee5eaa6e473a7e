//! One part: everything that needs the browser, from the empty page to the printed bytes.

use std::sync::Arc;

use platen_pdf::PageFacts;
use tokio::time::timeout_at;

use crate::{
    addresses::{may_hold_addresses, may_make_addresses},
    error::{RenderError, RenderFault},
    header_footer::Fields,
    job::{Part, Phase, Warning},
    network,
    page_kind::PageKind,
    render::Render,
    session::{Afterlife, PRINTED_BYTES_THAT_RETIRE, Session},
    steps::{
        StepError, console,
        evaluate::{self, PageReport},
        load,
        print::{self, Printing, Transfer},
        settle::settle,
        wait_for,
    },
};

/// Bytes of HTML from which few documents print that do not fit into one message.
const SMALL_HTML: usize = 256 << 10;

/// What came out of the browser, before it is completed.
pub(crate) struct Printed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) facts: PageFacts,
    pub(crate) warnings: Vec<Warning>,
    /// The cookie's domain matched, and the page could set it.
    pub(crate) cookie_set: bool,
}

/// What is known of a part once it has ended.
struct LookBack {
    warnings: Vec<Warning>,
    afterlife: Afterlife,
}

impl Render<'_> {
    /// Prints a part of the job. Its header and footer are Chromium's own if it is the only part; else they are drawn
    /// when all parts are there.
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
                    printed.warnings.extend(seen.warnings);
                    let is_large = printed.bytes.len() > PRINTED_BYTES_THAT_RETIRE;
                    attempt
                        .lease
                        .give_back(if is_large { Afterlife::Destroy } else { seen.afterlife });
                    return Ok(printed);
                }
                Ok(Err(error)) => failures = self.recover(index, attempt, error).await?,
            }
        }
    }

    /// Notes what the part did, however it ended.
    async fn look_back(&self, session: &Session, index: usize) -> LookBack {
        let (requests, dialogs, remote_document) = session.observer.look(|page| {
            let requests = page.requests.drain(..).map(|logged| logged.request).collect();
            (requests, page.dialogs, page.remote_document)
        });
        let connections = session.proxy.take_log();
        let requests = network::with_refusals(requests, index, &connections);
        let mut warnings: Vec<_> = network::warnings(&requests).collect();
        if dialogs > 0 {
            warnings.push(Warning {
                code: "dialog_dismissed",
                message: format!("{dialogs} dialogs were dismissed"),
            });
        }
        self.log.note_requests(index, requests);
        if session.kind.runs_scripts() && session.is_alive() {
            let messages = console::messages(session, index).await;
            self.log.note_console(index, messages);
        }
        // Whatever came from outside may have left something, if only by a header: cookies, HSTS, authentication caches
        // and partitioned storage can't be cleared for certain.
        let is_url = matches!(self.job.parts[index], Part::Url(_));
        LookBack {
            warnings,
            afterlife: if remote_document || is_url || connections.bytes_received > 0 {
                Afterlife::Destroy
            } else {
                Afterlife::Keep
            },
        }
    }

    /// The steps, one after the other.
    async fn take_steps(
        &self,
        session: &mut Session,
        index: usize,
        watch: bool,
        transfer: Transfer,
    ) -> Result<Printed, StepError> {
        let job = self.job;
        let part = &job.parts[index];
        let mut warnings = Vec::new();
        let mut cookie_set = false;
        session.begin(index, job.media, watch).await?;
        let mut report = match part {
            Part::Html(html) => put_in(session, part, html, &mut warnings).await?,
            Part::Url(address) => {
                if let Some(cookie) = &job.cookie {
                    cookie_set = load::set_cookie(session, cookie, address).await?;
                }
                load::navigate(session, address).await?;
                arrive(session, part, &mut warnings).await?
            }
        };
        if let Some(expression) = &job.evaluate {
            self.progress.enter(index, Phase::Evaluate);
            evaluate::evaluate(session, expression).await?;
            report = arrive(session, part, &mut warnings).await?;
        }
        if let Some(wanted) = &job.wait_for {
            self.progress.enter(index, Phase::Wait);
            wait_for::wait_for(session, wanted).await?;
            // Meanwhile the title may have changed, and new pictures and fonts have come.
            report = arrive(session, part, &mut warnings).await?;
        }
        let PageReport {
            facts, missing_fonts, ..
        } = report;
        warnings.extend(missing_fonts.iter().map(font_substituted));
        self.entered.accepted().await;
        self.progress.enter(index, Phase::Print);
        let header_footer = job.print.header_footer.as_ref().filter(|_| job.parts.len() == 1);
        let templates = match header_footer {
            Some(wanted) => {
                let fields = Fields::of(part, &facts, self.instant, None);
                let filled = self.fill_templates(wanted, vec![fields]).await?;
                warnings.extend(filled.warnings);
                filled.templates.into_iter().next().map(Arc::unwrap_or_clone)
            }
            None => None,
        };
        settle(session).await?;
        let printing = Printing::document(&job.print, templates, transfer);
        let bytes = print::print(session, &printing, &self.printed).await?;
        // What was printed is certainly the part only if the page is still there.
        stays_put(session, part)?;
        Ok(Printed {
            bytes,
            facts,
            warnings,
            cookie_set,
        })
    }
}

/// Whether the part may ask the network for anything, so that it is worth watching.
fn may_ask_network(kind: PageKind, part: &Part) -> bool {
    let Part::Html(html) = part else { return true };
    match kind {
        PageKind::ScriptFree => may_hold_addresses(html),
        PageKind::Scripted => may_hold_addresses(html) || may_make_addresses(html),
        // Not all of its scripts are in the text.
        PageKind::Composited => true,
    }
}

/// A part that may be printed anew without being heard of elsewhere is taken at once if it is likely to be small.
fn transfer(kind: PageKind, part: &Part, may_ask_network: bool) -> Transfer {
    match part {
        Part::Html(html) if html.len() <= SMALL_HTML && kind == PageKind::ScriptFree && !may_ask_network => {
            Transfer::AtOnce
        }
        Part::Html(_) | Part::Url(_) => Transfer::InPieces,
    }
}

/// Puts HTML in and waits until the page is ready. Everything is asked at once: an exchange takes two changes of process.
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
        None => evaluate::in_time(session, report).await?,
        Some(unanswered) => {
            warnings.push(unanswered);
            evaluate::report(session).await?
        }
    };
    warnings.extend(report.incomplete.then(resource_timeout));
    stays_put(session, part)?;
    Ok(report)
}

/// Waits until the page is ready, follows a URL part to where it leads, and reads what the page says about itself.
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
        // What the page does as soon as it is loaded is known by now.
        let has_left = session
            .observer
            .look(|page| page.is_on_its_way() || page.navigations != seen);
        if gave_up || !is_url || !has_left {
            break;
        }
    }
    Ok(report)
}

/// An HTML part is what the caller sent; if its scripts left for another address, that page is not what he wants
/// printed. One that is only about to leave is not printed either, so that the outcome does not hang on who is faster.
fn stays_put(session: &Session, part: &Part) -> Result<(), StepError> {
    let Part::Html(_) = part else { return Ok(()) };
    let away = session.observer.look(|page| {
        let leaving = page.navigation_pending.clone().filter(|url| url.starts_with("http"));
        page.address.clone().or(leaving)
    });
    match away {
        Some(url) => Err(RenderFault::NavigatedAway { url }.into()),
        None => Ok(()),
    }
}

fn resource_timeout() -> Warning {
    Warning {
        code: "resource_timeout",
        message: "a font or picture was not ready in time and may be missing".to_owned(),
    }
}

fn font_substituted(list: &String) -> Warning {
    Warning {
        code: "font_substituted",
        message: format!("no font of “{list}” is available; another took its place"),
    }
}
