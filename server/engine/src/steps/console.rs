//! Console messages of a page's scripts. DevTools events would report any amount of text over the pipe that all pages
//! share, so the page itself stores the first messages, truncated, until they are read.

use std::time::Duration;

use super::evaluate::Evaluate;
use crate::{
    render_log::{CONSOLE_LIMIT, ConsoleMessage},
    session::Session,
};

/// Runs in every document before its own scripts. A page that tampers with it loses its own messages only. Stores 100
/// messages of 500 characters, see [`crate::render_log`]. `Page.setDocumentContent` reopens the document, which removes
/// all listeners of the window but not the observer, which adds them again.
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
/// Maximum length of a message in characters, enforced here too because a page may tamper with the script above.
const TEXT_LIMIT: usize = 500;
/// Maximum length of a level; the longest is `error`.
const LEVEL_LIMIT: usize = 5;
/// Time to wait for a page that may be busy.
const PATIENCE: Duration = Duration::from_millis(300);

/// Returns the first messages of the current document, or none if the page doesn't respond in time.
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
