//! Classes of failed renders, for metrics.

use strum::{EnumString, IntoStaticStr, VariantNames};

/// The class of a failed render. The names are used in metrics and in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
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
        for word in FailureKind::VARIANTS {
            assert_eq!(word.parse().map(|kind: FailureKind| kind.into_str()), Ok(*word));
        }
        assert!("another".parse::<FailureKind>().is_err());
    }
}
