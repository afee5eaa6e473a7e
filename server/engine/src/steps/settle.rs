//! Brings animations to rest, so that it is no chance which moment of them is printed.

use super::{StepError, evaluate::Evaluate};
use crate::session::Session;

/// An animation that ends is at its end, one that never does at its start. One that is paused, or follows scrolling, stays
/// where the page has put it. See Web Animations, 4.4 and 6.4.
const SETTLE: &str = "for (const animation of document.getAnimations()) try { \
        if (animation.playState !== 'running' || !(animation.timeline instanceof DocumentTimeline)) continue; \
        if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish(); \
        else { animation.pause(); animation.currentTime = 0; } \
    } catch {}";

/// Returns once the command is on its way; the next one finds the page at rest. A page that has tampered with what is used
/// here is printed as it is.
pub(crate) async fn settle(session: &Session) -> Result<(), StepError> {
    drop(session.start(&Evaluate::new(SETTLE)).await?);
    Ok(())
}
