//! One render: admission, session, steps, completion.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use platen_pdf::{Completed, PageFacts, PdfError};
use time::OffsetDateTime;

use crate::{
    Engine, header_footer,
    job::{
        Caller, NetworkRequest, Part, Phase, PhaseTimes, PrintSettings, RenderError, RenderFault, RenderJob,
        RenderedDocument, Warning,
    },
    network,
    pool::Lease,
    script_free::is_script_free,
    session::{Afterlife, PRINTED_BYTES_THAT_RETIRE, Scripts, Session},
    steps::{
        StepError, evaluate, load,
        print::{self, Templates},
        wait_for,
    },
};

/// A render whose browser died is tried once more on another before anybody hears of it.
const TRIES: usize = 2;
/// A renderer that ends so soon was ill before it got the page, which is then tried once more on another.
const TOO_SOON_TO_CRASH: Duration = Duration::from_millis(500);

/// What came out of the browser, before it is completed.
struct Printed {
    bytes: Vec<u8>,
    facts: PageFacts,
    warnings: Vec<Warning>,
    requests: Vec<NetworkRequest>,
}

/// The phase under way and the time that each has taken so far.
struct Progress(Mutex<Clock>);

struct Clock {
    phase: Phase,
    since: Instant,
    times: PhaseTimes,
}

impl Progress {
    fn start() -> Self {
        Self(Mutex::new(Clock {
            phase: Phase::Queue,
            since: Instant::now(),
            times: PhaseTimes::default(),
        }))
    }

    fn phase(&self) -> Phase {
        self.lock().phase
    }

    fn enter(&self, phase: Phase) {
        let mut clock = self.lock();
        let took = clock.since.elapsed();
        let phase_before = clock.phase;
        *clock.times.of(phase_before) += took;
        clock.since += took;
        clock.phase = phase;
    }

    fn finish(&self) -> PhaseTimes {
        self.enter(Phase::Post);
        self.lock().times
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn render(engine: &Engine, caller: Caller, job: RenderJob) -> Result<RenderedDocument, RenderError> {
    let progress = Progress::start();
    let deadline = job.deadline;
    match tokio::time::timeout(deadline, render_in_time(engine, caller, job, &progress)).await {
        Ok(result) => result,
        Err(_) => Err(RenderError::Deadline {
            phase: progress.phase(),
            after: deadline,
        }),
    }
}

async fn render_in_time(
    engine: &Engine,
    caller: Caller,
    job: RenderJob,
    progress: &Progress,
) -> Result<RenderedDocument, RenderError> {
    let _slot = engine.admission.enter(caller, job.lane).await?;
    let instant = OffsetDateTime::now_utc();
    let mut tries = 0;
    let printed = loop {
        tries += 1;
        progress.enter(Phase::Load);
        let mut lease = engine.pool.lease(caller.account).await?;
        let lent = Instant::now();
        let error = match print_part(&mut lease, &job, instant, progress).await {
            Ok((printed, afterlife)) => {
                lease.give_back(afterlife);
                break printed;
            }
            Err(error) => error,
        };
        // The lease is dropped, and with it the session, which nobody can vouch for any more.
        match error {
            StepError::Fault(RenderFault::Crashed) if lease.session().browser.killed_for_memory() => {
                let limit_mb = engine.page_memory_limit >> 20;
                return Err(RenderFault::MemoryExceeded { limit_mb }.into());
            }
            StepError::Fault(RenderFault::Crashed)
                if (tries == TRIES || lent.elapsed() > TOO_SOON_TO_CRASH)
                    && !lease.session().browser.is_dying().await =>
            {
                return Err(RenderFault::Crashed.into());
            }
            StepError::BrowserGone | StepError::Fault(RenderFault::Crashed) if tries < TRIES => {}
            StepError::BrowserGone | StepError::Fault(RenderFault::Crashed) => {
                return Err(RenderError::Browser("it died twice".to_owned()));
            }
            StepError::Fault(fault) => return Err(fault.into()),
            StepError::Protocol(message) => return Err(RenderError::Browser(message)),
        }
        tracing::warn!(render = %job.id, "the browser failed a render, which is tried once more");
    };
    progress.enter(Phase::Post);
    complete(printed, &job, instant, progress).await
}

/// Everything that needs the browser. Also says whether the session may go on.
async fn print_part(
    lease: &mut Lease,
    job: &RenderJob,
    instant: OffsetDateTime,
    progress: &Progress,
) -> Result<(Printed, Afterlife), StepError> {
    let session = lease.session();
    let mut warnings = Vec::new();
    let mut url = None;
    let mut facts;
    match &job.part {
        Part::Html(html) => {
            let scripts = if job.evaluate.is_none() && is_script_free(html) {
                Scripts::Disabled
            } else {
                Scripts::Enabled
            };
            session.begin(job.media, scripts).await?;
            if job.cookie.is_some() {
                warnings.push(cookie_unused());
            }
            facts = put_in(session, &job.part, html, &mut warnings).await?;
        }
        Part::Url(address) => {
            session.begin(job.media, Scripts::Enabled).await?;
            if let Some(cookie) = &job.cookie
                && !load::set_cookie(session, cookie, address).await?
            {
                warnings.push(cookie_unused());
            }
            load::navigate(session, address).await?;
            facts = arrive(session, &job.part, &mut warnings).await?;
            url = Some(address);
        }
    }
    if let Some(expression) = &job.evaluate {
        progress.enter(Phase::Evaluate);
        evaluate::evaluate(session, expression).await?;
        facts = arrive(session, &job.part, &mut warnings).await?;
    }
    if let Some(wanted) = &job.wait_for {
        progress.enter(Phase::Wait);
        wait_for::wait_for(session, wanted).await?;
        // Meanwhile the title may have changed, and new pictures and fonts have come.
        facts = arrive(session, &job.part, &mut warnings).await?;
    }
    progress.enter(Phase::Print);
    let templates = fill_templates(&job.print, &facts, url.map(url::Url::as_str), instant, &mut warnings);
    let bytes = print::print(session, &job.print, templates).await?;
    // What was printed is certainly the part only if the page is still there.
    stays_put(session, &job.part)?;
    let (requests, dialogs, remote_document) = session.observer.look(|page| {
        let requests = page.requests.drain(..).map(|logged| logged.request).collect();
        (requests, page.dialogs, page.remote_document)
    });
    let log = session.proxy.take_log();
    let requests = network::with_refusals(requests, &log);
    warnings.extend(network::refusal_warning(&requests));
    if dialogs > 0 {
        warnings.push(Warning {
            code: "dialog_dismissed",
            message: format!("{dialogs} dialogs were dismissed"),
        });
    }
    // Whatever came from outside may have left something, if only by a header: cookies, HSTS, authentication caches and
    // partitioned storage can't be cleared for certain.
    let real_origin = remote_document || url.is_some() || log.bytes_received > 0;
    let afterlife = if real_origin || bytes.len() > PRINTED_BYTES_THAT_RETIRE {
        Afterlife::Destroy
    } else {
        Afterlife::Keep
    };
    Ok((
        Printed {
            bytes,
            facts,
            warnings,
            requests,
        },
        afterlife,
    ))
}

/// Puts HTML in and waits until the page is ready. Everything is asked at once: an exchange takes two changes of process.
async fn put_in(
    session: &Session,
    part: &Part,
    html: &str,
    warnings: &mut Vec<Warning>,
) -> Result<PageFacts, StepError> {
    let put = load::put_content(session, html.to_owned()).await?;
    let facts = evaluate::ready_facts_once_loaded(session).await?;
    put.await?;
    let unanswered = load::wait_until_loaded(session, false).await?;
    let (facts, incomplete) = match unanswered {
        None => evaluate::in_time(session, facts).await?,
        Some(unanswered) => {
            warnings.push(unanswered);
            evaluate::ready_facts(session).await?
        }
    };
    warnings.extend(incomplete.then(resource_timeout));
    stays_put(session, part)?;
    Ok(facts)
}

/// Waits until the page is ready, follows a URL part to where it leads, and reads what the page says about itself.
async fn arrive(session: &Session, part: &Part, warnings: &mut Vec<Warning>) -> Result<PageFacts, StepError> {
    let mut facts = PageFacts::default();
    for _ in 0..load::CLIENT_REDIRECT_LIMIT {
        let is_url = matches!(part, Part::Url(_));
        let unanswered = load::wait_until_loaded(session, is_url).await?;
        let gave_up = unanswered.is_some();
        warnings.extend(unanswered);
        if is_url {
            load::check_answer(session)?;
        }
        let seen = session.observer.look(|page| page.navigations);
        let (read, incomplete) = evaluate::ready_facts(session).await?;
        facts = read;
        warnings.extend(incomplete.then(resource_timeout));
        stays_put(session, part)?;
        // What the page does as soon as it is loaded is known by now.
        let has_left = session
            .observer
            .look(|page| page.is_on_its_way() || page.navigations != seen);
        if gave_up || !is_url || !has_left {
            break;
        }
    }
    Ok(facts)
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

fn fill_templates(
    settings: &PrintSettings,
    facts: &PageFacts,
    url: Option<&str>,
    instant: OffsetDateTime,
    warnings: &mut Vec<Warning>,
) -> Option<Templates> {
    let wanted = settings.header_footer.as_ref()?;
    let fields = header_footer::Fields {
        title: facts.title.as_deref().unwrap_or_default(),
        url: url.unwrap_or_default(),
        date: instant,
    };
    let (header, header_warning) = header_footer::fill(&wanted.header, &fields, "header_template");
    let (footer, footer_warning) = header_footer::fill(&wanted.footer, &fields, "footer_template");
    warnings.extend(header_warning);
    warnings.extend(footer_warning);
    Some(Templates { header, footer })
}

async fn complete(
    printed: Printed,
    job: &RenderJob,
    instant: OffsetDateTime,
    progress: &Progress,
) -> Result<RenderedDocument, RenderError> {
    let Printed {
        bytes,
        facts,
        mut warnings,
        requests,
    } = printed;
    let format = job.format;
    let title = facts
        .title
        .as_deref()
        .map(str::trim)
        .filter(|title| !title.is_empty())
        .map(ToOwned::to_owned);
    let completed = tokio::task::spawn_blocking(move || platen_pdf::complete(&bytes, &facts, format, instant)).await;
    let completed = match completed {
        Ok(Ok(completed)) => completed,
        Ok(Err(PdfError::PageSize { page, width, height })) => {
            return Err(RenderFault::PageSize { page, width, height }.into());
        }
        Ok(Err(error)) => return Err(RenderError::Browser(error.to_string())),
        Err(error) => return Err(RenderError::Browser(error.to_string())),
    };
    let Completed {
        bytes: pdf,
        page_count,
        warnings: more,
    } = completed;
    if page_count > job.page_limit {
        return Err(RenderFault::TooManyPages {
            pages: page_count,
            limit: job.page_limit,
        }
        .into());
    }
    warnings.extend(more.into_iter().map(|warning| Warning {
        code: warning.code,
        message: warning.message,
    }));
    Ok(RenderedDocument {
        pdf,
        page_count,
        title,
        phases: progress.finish(),
        warnings,
        requests,
    })
}

fn resource_timeout() -> Warning {
    Warning {
        code: "resource_timeout",
        message: "a font or picture was not ready in time and may be missing".to_owned(),
    }
}

fn cookie_unused() -> Warning {
    Warning {
        code: "cookie_unused",
        message: "set_cookie.domain matches no URL part; the cookie was not set".to_owned(),
    }
}
