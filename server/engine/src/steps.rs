//! The steps of a render: small functions, each one exchange with the page. Callers apply the deadline, see `render`.

pub(crate) mod console;
pub(crate) mod evaluate;
pub(crate) mod frames;
pub(crate) mod load;
pub(crate) mod print;
pub(crate) mod selectors;
pub(crate) mod settle;
pub(crate) mod wait_for;
pub(crate) mod warm_up;

use crate::{
    devtools::{DevToolsError, MESSAGE_LIMIT_MB},
    error::RenderProblem,
};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// An error that the caller of the API can correct.
    Problem(RenderProblem),
    /// The printed document does not fit into one DevTools message; to be retried in chunks.
    TooLargeAtOnce,
    /// The page waits for frames, which are not composited; to be retried with [`PageKind::Composited`].
    ///
    /// [`PageKind::Composited`]: crate::page_kind::PageKind::Composited
    AwaitsFrames,
    /// The browser has died; to be retried in another.
    BrowserGone,
    /// The render's deadline has passed.
    Late,
    /// An unexpected response of the browser.
    Protocol(String),
}

impl From<RenderProblem> for StepError {
    fn from(problem: RenderProblem) -> Self {
        Self::Problem(problem)
    }
}

impl From<DevToolsError> for StepError {
    fn from(error: DevToolsError) -> Self {
        match error {
            DevToolsError::Closed => Self::BrowserGone,
            DevToolsError::TargetCrashed => Self::Problem(RenderProblem::Crashed),
            DevToolsError::MessageTooLarge => Self::Problem(RenderProblem::MessageTooLarge {
                limit_mb: MESSAGE_LIMIT_MB,
            }),
            error @ (DevToolsError::Refused { .. } | DevToolsError::Malformed { .. }) => {
                Self::Protocol(error.to_string())
            }
        }
    }
}
