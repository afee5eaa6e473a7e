//! Filters for lists of renders.

use crate::{
    ids::ApiKeyId,
    page::parameter,
    validation::{Problem, quote},
};

/// The execution of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderMode {
    /// Synchronous: the client waits for the document.
    Sync,
    /// Asynchronous: the document is stored.
    Async,
}

impl RenderMode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Sync, Self::Async];

    /// Returns the name used in responses and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }

    /// Returns the name in the dashboard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "Sync",
            Self::Async => "Async",
        }
    }
}

/// The status of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderState {
    /// It waits for a worker, or for its next attempt.
    Queued,
    /// It is being rendered or stored.
    Processing,
    /// There is a document.
    Succeeded,
    /// There is no document.
    Failed,
    Cancelled,
}

impl RenderState {
    /// In the order in which they occur.
    pub const ALL: [Self; 5] = [
        Self::Queued,
        Self::Processing,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name used in responses and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns the name in the dashboard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Processing => "Processing",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Returns whether the status is final.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// A filter for renders of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderFilter {
    pub state: Option<RenderState>,
    pub mode: Option<RenderMode>,
    /// Requested with this key.
    pub key: Option<ApiKeyId>,
}

impl RenderFilter {
    /// Parses `state` and `mode` of a query string. Fails with all validation errors, at the parameters' names.
    pub fn parse(query: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let state = parameter(query, "state", &mut problems, |text| {
            one_of(text, &RenderState::ALL, RenderState::as_str)
        });
        let mode = parameter(query, "mode", &mut problems, |text| {
            one_of(text, &RenderMode::ALL, RenderMode::as_str)
        });
        if problems.is_empty() {
            Ok(Self { state, mode, key: None })
        } else {
            Err(problems)
        }
    }
}

fn one_of<T: Copy>(text: &str, all: &[T], word: impl Fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|&one| word(one) == text);
    found.ok_or_else(|| {
        let words: Vec<_> = all.iter().map(|&one| word(one)).collect();
        format!("Must be one of {}; got {}", words.join(", "), quote(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for state in RenderState::ALL {
            assert_eq!(RenderState::parse(state.as_str()), Some(state));
        }
        for mode in RenderMode::ALL {
            assert_eq!(RenderMode::parse(mode.as_str()), Some(mode));
        }
        assert_eq!(RenderState::parse("Queued"), None);
    }

    #[test]
    fn queries() {
        assert_eq!(RenderFilter::parse(""), Ok(RenderFilter::default()));
        let filter = RenderFilter::parse("mode=async&state=failed&other=1").expect("a filter");
        assert_eq!(
            (filter.state, filter.mode),
            (Some(RenderState::Failed), Some(RenderMode::Async))
        );
        let problems = RenderFilter::parse("state=done&mode=").expect_err("faulty");
        let problems: Vec<_> = problems
            .iter()
            .map(|problem| (problem.pointer.as_str(), problem.detail.as_str()))
            .collect();
        assert_eq!(
            problems,
            [
                (
                    "/state",
                    "Must be one of queued, processing, succeeded, failed, cancelled; got \"done\""
                ),
                ("/mode", "Must be one of sync, async; got \"\""),
            ]
        );
    }
}
