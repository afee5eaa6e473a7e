//! Stops animations, so that the printed moment is deterministic.

use super::{StepError, evaluate::Evaluate};
use crate::session::Session;

/// Moves finite animations to their end and infinite ones to their start. Animations that are paused or follow
/// scrolling are left as they are. See Web Animations, 4.4 and 6.4.
pub(super) const SETTLE: &str = "for (const animation of document.getAnimations()) try { \
        if (animation.playState !== 'running' || !(animation.timeline instanceof DocumentTimeline)) continue; \
        if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish(); \
        else { animation.pause(); animation.currentTime = 0; } \
    } catch {}";

/// Stops animations, unless the page's report has done so, because the page has no scripts. Returns once the command is
/// sent; it takes effect before the next command. A page that has tampered with the built-ins used here is printed as
/// it is.
pub(crate) async fn settle(session: &Session) -> Result<(), StepError> {
    if session.kind.runs_scripts() {
        drop(session.start(&Evaluate::new(SETTLE)).await?);
    }
    Ok(())
}
