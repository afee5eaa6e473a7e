//! JavaScript in the page: ours, which waits for fonts and pictures and reads what the page says about itself, and the
//! caller's.

use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, EvaluateReturns, ExceptionDetails};
use platen_pdf::PageFacts;
use serde::Deserialize;

use super::{StepError, load::RESOURCE_LIMIT};
use crate::{devtools::DevToolsError, error::RenderFault, session::Session};

/// Longer messages of exceptions are cut.
const MESSAGE_LIMIT: usize = 500;

/// Waits for the load event.
const LOADED: &str =
    "if (document.readyState !== 'complete') await new Promise(loaded => addEventListener('load', loaded));";
/// Waits for fonts and pictures, lazy ones too. The facts follow in the same exchange.
const READY: &str = "const images = [...document.images]; \
    for (const image of images) if (image.loading === 'lazy') image.loading = 'eager'; \
    await Promise.all([document.fonts.ready, ...images.map(image => image.decode().catch(() => {}))]);";
/// What the page says about itself. Names of `<meta>` are matched without regard to case.
const FACTS: &str = "const meta = name => document.querySelector(`meta[name=\"${name}\" i]`)?.content; \
    return { title: document.title, language: document.documentElement?.lang, author: meta('author'), \
    description: meta('description'), keywords: meta('keywords') };";

#[derive(Deserialize)]
struct Facts {
    title: Option<String>,
    language: Option<String>,
    author: Option<String>,
    description: Option<String>,
    keywords: Option<String>,
}

/// Waits until fonts and pictures are there and reads title, language and meta data. `true`: not all of them came in
/// time.
pub(crate) async fn ready_facts(session: &Session) -> Result<(PageFacts, bool), StepError> {
    let facts = start(session, &format!("(async () => {{ {READY} {FACTS} }})()")).await?;
    in_time(session, facts).await
}

/// The same for a page that may not have loaded yet. Returns once the command is on its way; what comes back gives up
/// waiting for the load event never, for fonts and pictures in time.
pub(crate) async fn ready_facts_once_loaded(
    session: &Session,
) -> Result<impl Future<Output = Result<PageFacts, StepError>> + use<>, StepError> {
    start(session, &format!("(async () => {{ {LOADED} {READY} {FACTS} }})()")).await
}

/// Reads what the page says about itself without waiting longer if the answer does not come in time.
pub(crate) async fn in_time(
    session: &Session,
    facts: impl Future<Output = Result<PageFacts, StepError>>,
) -> Result<(PageFacts, bool), StepError> {
    match tokio::time::timeout(RESOURCE_LIMIT, facts).await {
        Ok(facts) => Ok((facts?, false)),
        Err(_) => Ok((start(session, &format!("(() => {{ {FACTS} }})()")).await?.await?, true)),
    }
}

async fn start(
    session: &Session,
    expression: &str,
) -> Result<impl Future<Output = Result<PageFacts, StepError>> + use<>, StepError> {
    let mut evaluate = EvaluateParams::new(expression);
    evaluate.await_promise = Some(true);
    evaluate.return_by_value = Some(true);
    let answer = session.start(&evaluate).await?;
    Ok(async { facts(answer.await) })
}

fn facts(answer: Result<EvaluateReturns, DevToolsError>) -> Result<PageFacts, StepError> {
    let answer = match answer {
        Err(error) if has_led_elsewhere(&error) => return Ok(PageFacts::default()),
        answer => answer?,
    };
    // A page that has tampered with what the expression uses says nothing about itself.
    let facts = answer
        .result
        .value
        .and_then(|value| serde_json::from_value::<Facts>(value).ok());
    Ok(facts.map_or_else(PageFacts::default, |facts| PageFacts {
        title: facts.title,
        language: facts.language,
        author: facts.author,
        description: facts.description,
        keywords: facts.keywords,
    }))
}

/// Evaluates the caller's expression; a promise is awaited.
pub(crate) async fn evaluate(session: &Session, expression: &str) -> Result<(), StepError> {
    let mut evaluate = EvaluateParams::new(expression);
    evaluate.await_promise = Some(true);
    evaluate.silent = Some(true);
    match session.execute(&evaluate).await {
        Ok(answer) => match answer.exception_details {
            Some(exception) => Err(RenderFault::EvaluateThrew {
                message: describe(exception),
            }
            .into()),
            None => Ok(()),
        },
        Err(error) if has_led_elsewhere(&error) => Ok(()),
        Err(DevToolsError::Refused { message, .. }) => Err(RenderFault::EvaluateThrew { message: cut(message) }.into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether the page has left for another document, which ends the world in which the expression was evaluated.
fn has_led_elsewhere(error: &DevToolsError) -> bool {
    let DevToolsError::Refused { message, .. } = error else {
        return false;
    };
    ["context was destroyed", "navigated or closed", "Promise was collected"]
        .iter()
        .any(|words| message.contains(words))
}

fn describe(exception: ExceptionDetails) -> String {
    let thrown = exception.exception.and_then(|thrown| {
        thrown
            .description
            .or_else(|| thrown.value.map(|value| value.to_string()))
    });
    // The first line names the error; the rest is a stack inside our evaluation.
    let text = thrown.unwrap_or(exception.text);
    cut(text.lines().next().unwrap_or_default().to_owned())
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MESSAGE_LIMIT) {
        text.truncate(at);
    }
    text
}
