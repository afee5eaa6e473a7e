//! Prepares a page for printing: stops animations, so that the printed moment is deterministic, and keeps languages.

use super::{StepError, evaluate::Evaluate};
use crate::session::Session;

/// Moves finite animations to their end and infinite ones to their start. Animations that are paused or follow
/// scrolling are left as they are. See Web Animations, 4.4 and 6.4.
///
/// A page without a language gets the browser's own (`--lang`) until completion removes that. The browser names the language of an
/// element only if its text differs from the page's, so elements in that language get another text that means the same.
pub(super) const SETTLE: &str = "for (const animation of document.getAnimations()) try { \
        if (animation.playState !== 'running' || !(animation.timeline instanceof DocumentTimeline)) continue; \
        if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish(); \
        else { animation.pause(); animation.currentTime = 0; } \
    } catch {} \
    try { \
        const same = document.documentElement.lang ? [] : document.querySelectorAll('[lang=\"en-US\"]'); \
        for (const element of same) element.setAttribute('lang', 'en-us'); \
    } catch {}";

/// Prepares the page, unless its report has done so, because the page has no scripts. Returns once the command is
/// sent; it takes effect before the next command. A page that has tampered with the built-ins used here is printed as
/// it is.
pub(crate) async fn settle(session: &Session) -> Result<(), StepError> {
    if session.kind.runs_scripts() {
        drop(session.start(&Evaluate::new(SETTLE)).await?);
    }
    Ok(())
}
