//! Filters for lists of renders.

use std::str::FromStr;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{
    ids::ApiKeyId,
    page::parameter,
    validation::{Problem, quote},
};

/// The execution of a render. The names are used in responses and in the database.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray, strum::VariantNames,
)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum RenderMode {
    /// Synchronous: the client waits for the document.
    Sync,
    /// Asynchronous: the document is stored.
    Async,
}

impl RenderMode {
    /// Returns the name in the dashboard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "Sync",
            Self::Async => "Async",
        }
    }
}

/// The status of a render. The names are used in responses and in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray, strum::VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
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
        let state = parameter(query, "state", &mut problems, one_of);
        let mode = parameter(query, "mode", &mut problems, one_of);
        if problems.is_empty() {
            Ok(Self { state, mode, key: None })
        } else {
            Err(problems)
        }
    }
}

fn one_of<T: FromStr + strum::VariantNames>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("Must be one of {}; got {}", T::VARIANTS.join(", "), quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for state in RenderState::VARIANTS {
            assert_eq!(state.into_str().parse(), Ok(*state));
        }
        for mode in RenderMode::VARIANTS {
            assert_eq!(mode.into_str().parse(), Ok(*mode));
        }
        assert!("Queued".parse::<RenderState>().is_err());
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
