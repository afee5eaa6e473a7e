//! Why renders come to nothing, in so few words that they can be counted.

use platen_engine::{
    error::{RenderError, RenderFault},
    job::Phase,
};

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The page of an address was not to be had.
    Unreachable,
    /// An address is none that may be reached.
    AddressRefused,
    /// A script threw, or what was waited for did not come.
    Script,
    /// The page took too long.
    TooSlow,
    /// The page crashed its renderer.
    Crashed,
    /// The page took too much memory.
    Memory,
    /// There were too many pages, or too much for one document.
    TooLarge,
    /// What was printed can't become the document that was asked for.
    Document,
    /// A template can't be filled.
    Template,
    /// The client's store does not take it.
    Destination,
    /// It can't be paid for.
    Credits,
    /// The account stores as much as it may.
    StorageFull,
    /// The account has too many under way, or the request came before.
    Conflict,
    /// There was no slot in time.
    NoSlot,
    /// The browser failed.
    Browser,
    /// The process ended over it.
    Lost,
    /// A store failed.
    Storage,
    /// Anything else of ours.
    Internal,
}

impl FailureKind {
    /// All kinds: first those that a client can mend.
    pub const ALL: [Self; 18] = [
        Self::Unreachable,
        Self::AddressRefused,
        Self::Script,
        Self::TooSlow,
        Self::Crashed,
        Self::Memory,
        Self::TooLarge,
        Self::Document,
        Self::Template,
        Self::Destination,
        Self::Credits,
        Self::StorageFull,
        Self::Conflict,
        Self::NoSlot,
        Self::Browser,
        Self::Lost,
        Self::Storage,
        Self::Internal,
    ];

    /// The word for it in metrics and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::AddressRefused => "address_refused",
            Self::Script => "script",
            Self::TooSlow => "too_slow",
            Self::Crashed => "crashed",
            Self::Memory => "memory",
            Self::TooLarge => "too_large",
            Self::Document => "document",
            Self::Template => "template",
            Self::Destination => "destination",
            Self::Credits => "credits",
            Self::StorageFull => "storage_full",
            Self::Conflict => "conflict",
            Self::NoSlot => "no_slot",
            Self::Browser => "browser",
            Self::Lost => "lost",
            Self::Storage => "storage",
            Self::Internal => "internal",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether the request, its page or its account is to blame, and not we.
    pub fn is_the_callers(self) -> bool {
        self <= Self::Conflict
    }

    /// Of what the engine says. A page that is too slow is its author's; that we had no slot for it, or could not complete
    /// it in time, is ours.
    pub fn of_engine(error: &RenderError) -> Self {
        match error {
            RenderError::Fault { fault, .. } => Self::of_fault(fault),
            RenderError::TooManyConcurrent { .. } => Self::Conflict,
            RenderError::QueueFull
            | RenderError::ShuttingDown
            | RenderError::Deadline {
                phase: Phase::Queue, ..
            } => Self::NoSlot,
            RenderError::Deadline { phase: Phase::Post, .. } => Self::Internal,
            RenderError::Deadline { .. } => Self::TooSlow,
            RenderError::Browser(_) => Self::Browser,
        }
    }

    fn of_fault(fault: &RenderFault) -> Self {
        match fault {
            RenderFault::Unreachable { .. } | RenderFault::HttpStatus { .. } | RenderFault::NotHtml { .. } => {
                Self::Unreachable
            }
            RenderFault::AddressRefused { .. } => Self::AddressRefused,
            RenderFault::NavigatedAway { .. }
            | RenderFault::EvaluateThrew { .. }
            | RenderFault::EvaluateTooLarge { .. }
            | RenderFault::MessageTooLarge { .. }
            | RenderFault::InvalidSelector { .. }
            | RenderFault::WaitForUnsatisfied { .. } => Self::Script,
            RenderFault::Crashed => Self::Crashed,
            RenderFault::MemoryExceeded { .. } => Self::Memory,
            RenderFault::TooManyPages { .. }
            | RenderFault::TooLarge { .. }
            | RenderFault::PrintedTooLarge { .. }
            | RenderFault::HeaderFooterTooLarge { .. } => Self::TooLarge,
            RenderFault::PageBeyondEnd { .. }
            | RenderFault::PageSize { .. }
            | RenderFault::NotConformant { .. }
            | RenderFault::PrintFailed { .. } => Self::Document,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_is_to_blame_for_time_depends_on_what_took_it() {
        let late = |phase| {
            let after = Duration::from_mins(1);
            FailureKind::of_engine(&RenderError::Deadline { phase, after })
        };
        for phase in [Phase::Load, Phase::Evaluate, Phase::Wait, Phase::Print] {
            assert!(late(phase).is_the_callers(), "{phase}");
        }
        assert!(!late(Phase::Queue).is_the_callers() && !late(Phase::Post).is_the_callers());
    }

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::from_word(kind.as_str()), Some(kind));
        }
        assert_eq!(FailureKind::from_word("another"), None);
    }
}
