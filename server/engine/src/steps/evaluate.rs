//! JavaScript in the page: ours, which waits for fonts and pictures and reads what the page says about itself, and the
//! caller's.

use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, EvaluateReturns, ExceptionDetails};
use platen_pdf::PageFacts;
use serde::Deserialize;

use super::{StepError, load::RESOURCE_LIMIT};
use crate::{devtools::DevToolsError, error::RenderFault, job::MediaType, session::Session};

/// Longer messages of exceptions are cut.
const MESSAGE_LIMIT: usize = 500;

/// Waits for the load event.
const LOADED: &str =
    "if (document.readyState !== 'complete') await new Promise(loaded => addEventListener('load', loaded));";
/// Waits for fonts and pictures, lazy ones too. The facts follow in the same exchange.
const READY: &str = "const images = [...document.images]; \
    for (const image of images) if (image.loading === 'lazy') image.loading = 'eager'; \
    await Promise.all([document.fonts.ready, ...images.map(image => image.decode().catch(() => {}))]);";
/// Which lists of fonts have none that is there, of those that a rule of a style sheet gives to an element. A font is there
/// if its name changes the width of a text; a name without a font does not. Where the page is printed as `print`, which
/// it is not shown as, the two words change places in a rule's condition, to know whether it will hold. What such a rule
/// gives is its own list, for it does not show yet; what a rule for the screen gives does not count.
const MISSING_FONTS: &str = "const missingFonts = isPrint => { \
    const bare = name => name.trim().replace(/^[\"']|[\"']$/g, ''); \
    const generic = /^(ui-)?(serif|sans-serif|monospace|rounded)$|^(cursive|fantasy|system-ui|math|emoji|fangsong)$|^-/i; \
    const loaded = new Set([...document.fonts].filter(font => font.status === 'loaded') \
        .map(font => bare(font.family).toLowerCase())); \
    const lists = new Set(), unseen = new Set(); \
    const other = {print: 'screen', screen: 'print'}; \
    const holds = media => !media?.mediaText || matchMedia(isPrint ? \
        media.mediaText.replace(/\\b(print|screen)\\b/g, word => other[word]) : media.mediaText).matches; \
    const isHidden = media => isPrint && /\\b(print|screen)\\b/.test(media?.mediaText ?? ''); \
    const look = (rules, media, wasHidden) => { \
        if (!holds(media)) { for (const rule of rules) unseen.add(rule.style?.fontFamily); return; } \
        const isOwn = wasHidden || isHidden(media); \
        for (const rule of rules) { \
            if (lists.size > 20) return; \
            const own = rule.style?.fontFamily; \
            const element = own && document.querySelector(rule.selectorText); \
            if (element) lists.add(isOwn && !own.includes('var(') ? own : getComputedStyle(element).fontFamily); \
            if (rule.cssRules) look(rule.cssRules, rule.media, isOwn); \
        } \
    }; \
    for (const sheet of document.styleSheets) try { look(sheet.cssRules, sheet.media, false) } catch {} \
    let context; \
    const width = font => { \
        context ??= document.createElement('canvas').getContext('2d'); \
        context.font = `72px ${font}`; \
        return context.measureText('mmwwlli10').width; \
    }; \
    const isThere = name => loaded.has(name.toLowerCase()) || \
        ['monospace', 'serif'].some(other => width(`\"${name}\", ${other}`) !== width(other)); \
    return [...lists].filter(list => { \
        if (unseen.has(list)) return false; \
        const names = list.split(',').map(bare).filter(name => !generic.test(name)); \
        return names.length && !names.some(isThere); \
    }).map(list => list.slice(0, 200)); \
};";
/// What the page says about itself. Names of `<meta>` are matched without regard to case.
const FACTS: &str = "const meta = name => document.querySelector(`meta[name=\"${name}\" i]`)?.content; \
    let missing = []; try { missing = missingFonts(isPrint) } catch {} \
    return { title: document.title, language: document.documentElement?.lang, author: meta('author'), \
    description: meta('description'), keywords: meta('keywords'), missingFonts: missing };";

/// What is known of a page when it is ready.
#[derive(Default)]
pub(crate) struct PageReport {
    pub(crate) facts: PageFacts,
    /// Lists of fonts as style sheets name them, of which none is there.
    pub(crate) missing_fonts: Vec<String>,
    /// Fonts or pictures did not come in time.
    pub(crate) incomplete: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    title: Option<String>,
    language: Option<String>,
    author: Option<String>,
    description: Option<String>,
    keywords: Option<String>,
    #[serde(default)]
    missing_fonts: Vec<String>,
}

impl From<Answer> for PageReport {
    fn from(answer: Answer) -> Self {
        Self {
            facts: PageFacts {
                title: answer.title,
                language: answer.language,
                author: answer.author,
                description: answer.description,
                keywords: answer.keywords,
            },
            missing_fonts: answer.missing_fonts,
            incomplete: false,
        }
    }
}

/// Waits until fonts and pictures are there and reads what the page says about itself.
pub(crate) async fn report(session: &Session) -> Result<PageReport, StepError> {
    let report = start(session, &format!("(async () => {{ {READY} {} }})()", facts(session))).await?;
    in_time(session, report).await
}

/// The same for a page that may not have loaded yet. Returns once the command is on its way; what comes back never gives
/// up waiting.
pub(crate) async fn report_once_loaded(
    session: &Session,
) -> Result<impl Future<Output = Result<PageReport, StepError>> + use<>, StepError> {
    let when_loaded = format!("(async () => {{ {LOADED} {READY} {} }})()", facts(session));
    start(session, &when_loaded).await
}

/// The report, or one of an incomplete page if it does not come in time.
pub(crate) async fn in_time(
    session: &Session,
    report: impl Future<Output = Result<PageReport, StepError>>,
) -> Result<PageReport, StepError> {
    if let Ok(report) = tokio::time::timeout(RESOURCE_LIMIT, report).await {
        return report;
    }
    let at_once = start(session, &format!("(() => {{ {} }})()", facts(session))).await?;
    Ok(PageReport {
        incomplete: true,
        ..at_once.await?
    })
}

fn facts(session: &Session) -> String {
    let is_print = session.media() == MediaType::Print;
    format!("const isPrint = {is_print}; {MISSING_FONTS} {FACTS}")
}

async fn start(
    session: &Session,
    expression: &str,
) -> Result<impl Future<Output = Result<PageReport, StepError>> + use<>, StepError> {
    let mut evaluate = EvaluateParams::new(expression);
    evaluate.await_promise = Some(true);
    evaluate.return_by_value = Some(true);
    let answer = session.start(&evaluate).await?;
    Ok(async { read(answer.await) })
}

fn read(answer: Result<EvaluateReturns, DevToolsError>) -> Result<PageReport, StepError> {
    let answer = match answer {
        Err(error) if has_led_elsewhere(&error) => return Ok(PageReport::default()),
        answer => answer?,
    };
    // A page that has tampered with what the expression uses says nothing about itself.
    let answer = answer
        .result
        .value
        .and_then(|value| serde_json::from_value::<Answer>(value).ok());
    Ok(answer.map(PageReport::from).unwrap_or_default())
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
