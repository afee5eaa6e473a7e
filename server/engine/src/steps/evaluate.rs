//! Evaluates JavaScript in the page: the engine's, which waits for fonts and images and reads metadata, and the
//! caller's.

use std::{borrow::Cow, time::Duration};

use chromiumoxide_cdp::cdp::js_protocol::runtime::{EvaluateParams, ExecutionContextId, TimeDelta};
use chromiumoxide_types::{Command, Method};
use platen_pdf::PageFacts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{StepError, frames::IS_WAITING, load::RESOURCE_LIMIT, settle::SETTLE};
use crate::{
    devtools::{DevToolsError, MESSAGE_LIMIT_MB},
    error::RenderProblem,
    job::MediaType,
    page_kind::PageKind,
    session::Session,
};

/// Maximum length of exception messages, in characters; longer ones are truncated.
const MESSAGE_LIMIT: usize = 500;

/// Function that evaluates an expression and discards its result, which DevTools would return at any length. Exceptions
/// are rethrown unless their text is long. Page and expression belong to the same caller, so a page that tampers with
/// the built-ins used here affects no other account; messages that become too long are skipped by [`crate::devtools`].
const KEEP_RESULT: &str = "(expression => { \
    const shorten = thrown => { \
        let texts = []; \
        try { texts = (typeof thrown === 'object' ? [thrown.name, thrown.message, thrown.stack] : [thrown]).map(String) } \
        catch {} \
        if (texts.every(text => text.length < 10000)) throw thrown; \
        const [name, message] = texts.map(text => text.slice(0, 500)); \
        return typeof thrown === 'object' ? `${name}: ${message}` : \
            typeof thrown === 'string' ? JSON.stringify(name) : name; \
    }; \
    let result; \
    try { result = (0, eval)(expression) } catch (thrown) { return shorten(thrown) } \
    return (async () => { try { await result } catch (thrown) { return shorten(thrown) } })(); \
})";

/// Waits for the load event.
const LOADED: &str =
    "if (document.readyState !== 'complete') await new Promise(loaded => addEventListener('load', loaded));";
/// The same without scripts, where no listener is called: the result if the page is still loading. A style sheet within the
/// body, for example, makes the parser wait.
const LOADED_WITHOUT_SCRIPTS: &str = "if (document.readyState !== 'complete') return {isEarly: true};";
/// Waits for fonts and images, including lazy ones. Without frames, only a forced layout determines which fonts are
/// needed.
const READY: &str = "const ready = async () => { \
    document.documentElement?.getBoundingClientRect(); \
    const images = [...document.images]; \
    for (const image of images) if (image.loading === 'lazy') image.loading = 'eager'; \
    await Promise.all([document.fonts.ready, ...images.map(image => image.decode().catch(() => {}))]); \
};";
/// Finds the font lists that style rules apply to elements and of which no font is available. A font is available if
/// its name changes the width of a text; `measured` keeps the results for names that no rule `@font-face` defines. If
/// the page is printed with media type `print`, in which it is not displayed now, `print` and `screen` are exchanged in
/// the condition of a rule to determine whether the rule will apply. Such a rule contributes its own list, because it
/// has no effect on computed styles yet; rules for the screen are ignored.
const MISSING_FONTS: &str = "const measured = new Map(); \
const missingFonts = isPrint => { \
    const bare = name => name.trim().replace(/^[\"']|[\"']$/g, ''); \
    const generic = /^(ui-)?(serif|sans-serif|monospace|rounded)$|^(cursive|fantasy|system-ui|math|emoji|fangsong)$|^-/i; \
    const named = font => bare(font.family).toLowerCase(); \
    const defined = new Set([...document.fonts].map(named)); \
    const loaded = new Set([...document.fonts].filter(font => font.status === 'loaded').map(named)); \
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
    const measure = name => \
        ['monospace', 'serif'].some(other => width(`\"${name}\", ${other}`) !== width(other)); \
    const isThere = name => { \
        const key = name.toLowerCase(); \
        if (loaded.has(key)) return true; \
        if (defined.has(key) || key.length > 100) return measure(name); \
        if (measured.size > 500) measured.clear(); \
        if (!measured.has(key)) measured.set(key, measure(name)); \
        return measured.get(key); \
    }; \
    return [...lists].filter(list => { \
        if (unseen.has(list)) return false; \
        const names = list.split(',').map(bare).filter(name => !generic.test(name)); \
        return names.length && !names.some(isThere); \
    }).map(list => list.slice(0, 200)); \
};";
/// Finds images that are displayed as the browser's icon for broken images.
const BROKEN_IMAGES: &str = "const brokenImages = () => [...document.images] \
    .filter(image => image.complete && !image.naturalWidth) \
    .map(image => image.currentSrc || image.getAttribute('src')) \
    .filter(Boolean).slice(0, 20).map(source => source.slice(0, 500));";
/// Reads metadata of the page, truncated above what a PDF can store. Names of `<meta>` are matched case-insensitively.
const FACTS: &str = "const facts = (isPrint, awaitsFrames) => { \
    const meta = name => document.querySelector(`meta[name=\"${name}\" i]`)?.content; \
    let missing = []; try { missing = missingFonts(isPrint) } catch {} \
    let broken = []; try { broken = brokenImages() } catch {} \
    const cut = text => text?.slice(0, 40000); \
    return { title: cut(document.title), language: cut(document.documentElement?.lang), author: cut(meta('author')), \
        description: cut(meta('description')), keywords: cut(meta('keywords')), missingFonts: missing, \
        brokenImages: broken, awaitsFrames }; \
};";

/// Report on a page that is ready to print. Empty if the page tampered with the expressions that read it.
#[derive(Default)]
pub(crate) struct PageReport {
    pub(crate) facts: PageFacts,
    /// Font lists, as in style sheets, of which no font is available.
    pub(crate) missing_fonts: Vec<String>,
    /// Addresses, as far as they are known, of images that can't be displayed.
    pub(crate) broken_images: Vec<String>,
    /// Whether the page, which has no scripts, was still loading, so that this report is empty.
    pub(crate) is_early: bool,
    /// Whether fonts or images did not load in time.
    pub(crate) incomplete: bool,
    /// Whether something waits for a frame, see [`super::frames`].
    awaits_frames: bool,
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
    #[serde(default)]
    broken_images: Vec<String>,
    #[serde(default)]
    is_early: bool,
    #[serde(default)]
    awaits_frames: bool,
}

impl From<Answer> for PageReport {
    fn from(answer: Answer) -> Self {
        Self {
            facts: PageFacts {
                title: answer.title,
                language: answer.language,
                fallback_language: None,
                author: answer.author,
                description: answer.description,
                keywords: answer.keywords,
                has_running_text: false,
            },
            missing_fonts: answer.missing_fonts,
            broken_images: answer.broken_images,
            is_early: answer.is_early,
            incomplete: false,
            awaits_frames: answer.awaits_frames,
        }
    }
}

/// Waits until fonts and images are loaded and returns the page's report.
pub(crate) async fn report(session: &Session) -> Result<PageReport, StepError> {
    let report = start(session, "await ready();").await?;
    in_time(session, report).await
}

/// Requests the report of a page that may not have loaded yet. Returns once the command is sent; the returned future
/// has no timeout, see [`in_time`]. Of a page without scripts, the report may be early.
pub(crate) async fn report_once_loaded(
    session: &Session,
) -> Result<impl Future<Output = Result<PageReport, StepError>> + use<>, StepError> {
    let loaded = if session.kind.runs_scripts() {
        LOADED
    } else {
        LOADED_WITHOUT_SCRIPTS
    };
    start(session, &format!("{loaded} await ready();")).await
}

/// Awaits `report`, or after [`RESOURCE_LIMIT`] reads that of an incomplete page. Fails with
/// [`StepError::AwaitsFrames`] if the page waits for frames that are not composited.
pub(crate) async fn in_time(
    session: &Session,
    report: impl Future<Output = Result<PageReport, StepError>>,
) -> Result<PageReport, StepError> {
    let report = if let Ok(report) = tokio::time::timeout(RESOURCE_LIMIT, report).await {
        report?
    } else {
        let at_once = start(session, "").await?;
        PageReport {
            incomplete: true,
            ..at_once.await?
        }
    };
    if report.awaits_frames && session.kind == PageKind::Scripted {
        return Err(StepError::AwaitsFrames);
    }
    Ok(report)
}

/// Requests the page's report after the statements `wait`.
async fn start(
    session: &Session,
    wait: &str,
) -> Result<impl Future<Output = Result<PageReport, StepError>> + use<>, StepError> {
    let functions = format!("(() => {{ {READY} {MISSING_FONTS} {BROKEN_IMAGES} {FACTS} return {{ready, facts}} }})()");
    let is_print = session.media() == MediaType::Print;
    let expression = if session.kind.runs_scripts() {
        format!(
            "(async () => {{ const {{ready, facts}} = {functions}; {wait} return facts({is_print}, {IS_WAITING}) }})()"
        )
    } else {
        // Without scripts, the page keeps its realm, and thus the functions, under a name that no element can have.
        // Nothing changes its animations later.
        format!(
            "(async () => {{ const {{ready, facts}} = globalThis[Symbol.for('platen')] ??= {functions}; \
             try {{ {wait} }} catch {{}} {SETTLE} return facts({is_print}, false) }})()"
        )
    };
    let answer = session.start(&Evaluate::new(expression)).await?;
    Ok(async { read(answer.await) })
}

fn read(answer: Result<Evaluated, DevToolsError>) -> Result<PageReport, StepError> {
    let answer = match answer {
        // The page has navigated, or has tampered with built-ins that the expression uses.
        Err(DevToolsError::Refused { .. }) => return Ok(PageReport::default()),
        answer => answer?,
    };
    let answer = answer.result.value;
    let answer = answer.and_then(|value| serde_json::from_value::<Answer>(value).ok());
    Ok(answer.map(PageReport::from).unwrap_or_default())
}

/// Evaluates the caller's expression; a promise is awaited. Succeeds if the expression navigates to another document.
pub(crate) async fn evaluate(session: &Session, expression: &str) -> Result<(), StepError> {
    let expression = format!("{KEEP_RESULT}({})", Value::from(expression));
    match session.execute(&Evaluate::new(expression)).await {
        Ok(answer) => match answer.thrown() {
            Some(message) => Err(RenderProblem::EvaluateThrew { message }.into()),
            None => Ok(()),
        },
        Err(error) if has_led_elsewhere(&error) => Ok(()),
        Err(DevToolsError::Refused { message, .. }) => {
            Err(RenderProblem::EvaluateThrew { message: cut(message) }.into())
        }
        Err(DevToolsError::MessageTooLarge) => Err(RenderProblem::EvaluateTooLarge {
            limit_mb: MESSAGE_LIMIT_MB,
        }
        .into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the page has navigated to another document, which destroys the context of the evaluation.
fn has_led_elsewhere(error: &DevToolsError) -> bool {
    let DevToolsError::Refused { message, .. } = error else {
        return false;
    };
    ["context was destroyed", "navigated or closed", "Promise was collected"]
        .iter()
        .any(|words| message.contains(words))
}

/// `Runtime.evaluate` of an expression with a small value, returned by value; a promise is awaited.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Evaluate(EvaluateParams);

/// Response to [`Evaluate`]. Only the fields used here are deserialized, because the page controls most of the
/// response.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    pub(crate) result: RemoteValue,
    exception_details: Option<Exception>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RemoteValue {
    pub(crate) value: Option<Value>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    text: String,
    exception: Option<RemoteValue>,
}

impl Evaluate {
    pub(crate) fn new(expression: impl Into<String>) -> Self {
        let mut evaluate = EvaluateParams::new(expression);
        evaluate.await_promise = Some(true);
        evaluate.return_by_value = Some(true);
        evaluate.silent = Some(true);
        Self(evaluate)
    }

    /// Evaluates in an isolated world, and ends the evaluation after `limit`.
    pub(crate) fn within(mut self, world: ExecutionContextId, limit: Duration) -> Self {
        self.0.context_id = Some(world);
        self.0.timeout = Some(TimeDelta::new(limit.as_millis() as f64));
        self
    }
}

impl Method for Evaluate {
    fn identifier(&self) -> Cow<'static, str> {
        self.0.identifier()
    }
}

impl Command for Evaluate {
    type Response = Evaluated;
}

impl Evaluated {
    /// Returns the first line of the exception, if any. The rest is the stack of the engine's own evaluation.
    fn thrown(self) -> Option<String> {
        let text = match self.exception_details {
            None => match self.result.value {
                // Returned instead of thrown, because it is too long.
                Some(Value::String(shortened)) => shortened,
                _ => return None,
            },
            Some(Exception { text, exception }) => {
                let thrown = exception.and_then(|thrown| {
                    let value = thrown.value.filter(|value| !value.is_null());
                    thrown.description.or_else(|| value.map(|value| value.to_string()))
                });
                thrown.unwrap_or(text)
            }
        };
        Some(cut(text.lines().next().unwrap_or_default().to_owned()))
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MESSAGE_LIMIT) {
        text.truncate(at);
    }
    text
}
