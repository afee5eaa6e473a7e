//! What a page's scripts say to the console. DevTools would tell of it, but as much as a page likes, over the one pipe that
//! all pages share; so the page itself keeps the first messages, cut, until it is asked.

use std::time::Duration;

use super::evaluate::Evaluate;
use crate::{
    render_log::{CONSOLE_LIMIT, ConsoleMessage},
    session::Session,
};

/// Runs in every document before its own scripts. A page that tampers with it says nothing. 100 messages of 500 characters:
/// see [`crate::render_log`]. `Page.setDocumentContent` opens the document anew, which takes away every listener of the
/// window; observers stay.
pub(crate) const KEEP_MESSAGES: &str = "(() => { \
    const kept = []; \
    const text = value => { try { \
        return typeof value === 'string' ? value : value instanceof Error ? String(value) : \
            JSON.stringify(value) ?? String(value); \
    } catch { return String(value) } }; \
    const keep = (level, values) => { \
        if (kept.length < 100) kept.push([level, values.map(text).join(' ').slice(0, 500)]); \
    }; \
    for (const level of ['debug', 'info', 'log', 'warn', 'error']) \
        console[level] = (...values) => { try { keep(level, values) } catch {} }; \
    const at = event => !event.filename ? '' : event.filename === 'about:blank' ? ` (line ${event.lineno})` : \
        ` (${event.filename.split(/[?#]/)[0]}:${event.lineno})`; \
    const uncaught = event => { if (event.message) keep('error', [event.message + at(event)]) }; \
    const rejected = event => keep('error', ['Unhandled rejection: ' + text(event.reason)]); \
    const listen = () => { \
        addEventListener('error', uncaught); \
        addEventListener('unhandledrejection', rejected); \
    }; \
    listen(); \
    new MutationObserver(listen).observe(document, {childList: true}); \
    Object.defineProperty(globalThis, '__platenConsole', {value: () => kept}); \
})();";
const ASK: &str = "globalThis.__platenConsole?.() ?? []";
/// Characters that are kept of a message, whatever a page has made of the script above.
const TEXT_LIMIT: usize = 500;
/// The longest level is `error`.
const LEVEL_LIMIT: usize = 5;
/// A page that is busy with itself is not waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// The first messages of the document that is shown.
pub(crate) async fn messages(session: &Session, part: usize) -> Vec<ConsoleMessage> {
    let Ok(Ok(answer)) = tokio::time::timeout(PATIENCE, session.execute(&Evaluate::new(ASK))).await else {
        return Vec::new();
    };
    let kept = answer.result.value.unwrap_or_default();
    let kept: Vec<(String, String)> = serde_json::from_value(kept).unwrap_or_default();
    let messages = kept.into_iter().take(CONSOLE_LIMIT);
    messages
        .map(|(level, text)| ConsoleMessage {
            part,
            level: level.chars().take(LEVEL_LIMIT).collect(),
            text: text.chars().take(TEXT_LIMIT).collect(),
        })
        .collect()
}
