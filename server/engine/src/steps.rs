//! The steps of a render: small functions, one exchange with the page each. Deadlines are the caller's, see `render`.

pub(crate) mod console;
pub(crate) mod evaluate;
pub(crate) mod frames;
pub(crate) mod load;
pub(crate) mod print;
pub(crate) mod settle;
pub(crate) mod wait_for;

use crate::{
    devtools::{DevToolsError, MESSAGE_LIMIT_MB},
    error::RenderFault,
};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// The caller can mend it.
    Fault(RenderFault),
    /// The printed document does not fit into one message.
    TooLargeAtOnce,
    /// The page waits for frames, which it does not get.
    AwaitsFrames,
    /// The browser is gone; another may do it.
    BrowserGone,
    /// The render's deadline has passed.
    Late,
    /// The browser answered what it should not.
    Protocol(String),
}

impl From<RenderFault> for StepError {
    fn from(fault: RenderFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<DevToolsError> for StepError {
    fn from(error: DevToolsError) -> Self {
        match error {
            DevToolsError::Closed => Self::BrowserGone,
            DevToolsError::TargetCrashed => Self::Fault(RenderFault::Crashed),
            DevToolsError::MessageTooLarge => Self::Fault(RenderFault::MessageTooLarge {
                limit_mb: MESSAGE_LIMIT_MB,
            }),
            error @ (DevToolsError::Refused { .. } | DevToolsError::Malformed { .. }) => {
                Self::Protocol(error.to_string())
            }
        }
    }
}
