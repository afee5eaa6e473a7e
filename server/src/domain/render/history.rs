//! Which renders a client wants to see.

use crate::domain::{
    ids::ApiKeyId,
    page::parameter,
    validation::{Fault, quote},
};

/// Whether a client waits for the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderMode {
    /// He does.
    Sync,
    /// It is put into a store.
    Async,
}

impl RenderMode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Sync, Self::Async];

    /// The word used in answers and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
        }
    }
}

/// How far a render has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderState {
    /// It waits for its turn, or for another try.
    Queued,
    /// It is being rendered, or put into a store.
    Processing,
    /// There is a document.
    Succeeded,
    /// There is none.
    Failed,
    /// It was called off.
    Cancelled,
}

impl RenderState {
    const ALL: [Self; 5] = [
        Self::Queued,
        Self::Processing,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word used in answers and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Which renders of an account are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderFilter {
    /// In this state.
    pub state: Option<RenderState>,
    /// Of this kind.
    pub mode: Option<RenderMode>,
    /// Asked for with this key.
    pub key: Option<ApiKeyId>,
}

impl RenderFilter {
    /// Reads `state` and `mode` of a query string. Fails with every fault, at the parameter's name.
    pub fn parse(query: &str) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let state = parameter(query, "state", &mut faults, |text| {
            one_of(text, &RenderState::ALL, RenderState::as_str)
        });
        let mode = parameter(query, "mode", &mut faults, |text| {
            one_of(text, &RenderMode::ALL, RenderMode::as_str)
        });
        if faults.is_empty() {
            Ok(Self { state, mode, key: None })
        } else {
            Err(faults)
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
    fn queries() {
        assert_eq!(RenderFilter::parse(""), Ok(RenderFilter::default()));
        let filter = RenderFilter::parse("mode=async&state=failed&other=1").expect("a filter");
        assert_eq!(
            (filter.state, filter.mode),
            (Some(RenderState::Failed), Some(RenderMode::Async))
        );
        let faults = RenderFilter::parse("state=done&mode=").expect_err("faulty");
        let faults: Vec<_> = faults
            .iter()
            .map(|fault| (fault.pointer.as_str(), fault.detail.as_str()))
            .collect();
        assert_eq!(
            faults,
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
