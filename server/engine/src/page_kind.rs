//! What a part needs of its page: scripts, and frames, which Chromium composites although nothing displays them.

mod awaits_frames;
pub(crate) mod script_free;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use awaits_frames::may_await_frames;
use script_free::is_script_free;

use crate::job::{Part, RenderJob};

/// In ascending order of what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// Nothing of the page's own runs, whatever the scan for scripts missed, and no frames are composited.
    ScriptFree,
    /// Scripts run, and no frames are composited: nothing is called that waits for one.
    Scripted,
    /// Scripts run, and frames are composited.
    Composited,
}

impl PageKind {
    /// The kind for a part of the job. Text that only may need more than it gets counts as needing it.
    pub(crate) fn of(job: &RenderJob, part: &Part) -> Self {
        let Part::Html(html) = part else {
            return Self::Composited;
        };
        if job.evaluate.is_some() {
            // It may wait for a frame, whatever the text says; so may what `wait_for` names.
            Self::Composited
        } else if is_script_free(html) {
            Self::ScriptFree
        } else if job.wait_for.is_some() || may_await_frames(html) {
            Self::Composited
        } else {
            Self::Scripted
        }
    }

    /// Whether scripts of the page run.
    pub(crate) fn runs_scripts(self) -> bool {
        self != Self::ScriptFree
    }

    /// Whether its frames are composited.
    pub(crate) fn has_frames(self) -> bool {
        self == Self::Composited
    }
}

/// Finds words without regard to case, in texts of many megabytes.
fn scan(words: impl Iterator<Item = &'static str>) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .expect("a few short words make a small automaton")
}
