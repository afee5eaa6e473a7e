//! What a part requires of its page: scripts, and frames, which Chromium composites even though nothing displays them.

mod awaits_frames;
mod script_free;

use awaits_frames::may_await_frames;
pub(crate) use script_free::is_script_free;

use crate::{
    addresses::may_hold_addresses,
    asset_embedding::names_only_pictures_and_fonts,
    job::{Part, RenderJob},
};

/// Kinds of pages, in ascending order of cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// Script execution is disabled, so that nothing runs even if the scan missed a script. No frames are composited.
    ScriptFree,
    /// Scripts run, and no frames are composited: the scripts call nothing that waits for one.
    Scripted,
    /// Scripts run, and frames are composited.
    Composited,
}

impl PageKind {
    /// Returns the kind for a part of the job. In doubt, chooses the more capable kind.
    pub(crate) fn of(job: &RenderJob, part: &Part) -> Self {
        let Part::Html(html) = part else {
            return Self::Composited;
        };
        if job.evaluate.is_some() {
            // The expression may wait for a frame regardless of the HTML. A script that sets the attribute of
            // `wait_for` may do so too.
            Self::Composited
        } else if is_script_free(html) {
            Self::ScriptFree
        } else if job.wait_for.is_some() || may_await_frames(html) {
            Self::Composited
        } else {
            Self::Scripted
        }
    }

    /// Returns whether scripts of the page run.
    pub(crate) fn runs_scripts(self) -> bool {
        self != Self::ScriptFree
    }

    /// Returns whether frames of the page are composited.
    pub(crate) fn has_frames(self) -> bool {
        self == Self::Composited
    }
}

impl Part {
    /// Returns whether loading the part certainly runs no scripts, and requests nothing but assets that refer to nothing
    /// else. `false` if in doubt.
    pub fn is_self_contained(&self) -> bool {
        match self {
            Self::Html(html) => {
                is_script_free(html) && !may_hold_addresses(html) && names_only_pictures_and_fonts(html)
            }
            Self::Url(_) => false,
        }
    }
}
