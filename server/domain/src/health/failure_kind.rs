//! Classes of failed renders, for metrics.

/// The class of a failed render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The page of a URL could not be loaded.
    Unreachable,
    /// The address policy refused a URL.
    AddressRefused,
    /// A script threw, or `wait_for` was not satisfied.
    Script,
    /// The page exceeded the deadline.
    TooSlow,
    /// The page crashed its renderer.
    Crashed,
    /// The page exceeded its memory limit.
    Memory,
    /// The document has too many pages, or exceeds another size limit.
    TooLarge,
    /// The printed pages can't become the requested document.
    Document,
    /// A template can't be filled.
    Template,
    /// The client's store refused the document.
    Destination,
    /// The account has too few credits.
    Credits,
    /// The account has reached its storage limit.
    StorageFull,
    /// The account has too many renders in progress, or the request repeats an earlier one.
    Conflict,
    /// No slot became free in time.
    NoSlot,
    Browser,
    /// The process crashed during the render.
    Lost,
    /// A store failed.
    Storage,
    /// Any other internal error.
    Internal,
}

impl FailureKind {
    /// All kinds, those caused by the client first.
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

    /// Returns the name used in metrics and in the database.
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

    /// Returns the kind with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns whether the request, its page or its account caused the failure, rather than the service.
    pub fn is_the_callers(self) -> bool {
        self <= Self::Conflict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::from_word(kind.as_str()), Some(kind));
        }
        assert_eq!(FailureKind::from_word("another"), None);
    }
}
