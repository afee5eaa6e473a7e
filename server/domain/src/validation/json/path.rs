//! Paths to values in a document. Pointers are formatted only for the few values that appear in messages.

use crate::validation::{json::Layout, member};

/// The path from the document to a value.
pub(super) enum Path<'a> {
    Root,
    Below(&'a Path<'a>, Step<'a>),
}

/// The step from a value to one that it contains.
pub(super) enum Step<'a> {
    Item(usize),
    Member(&'a str),
}

impl Path<'_> {
    /// Returns the JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Below(parent, Step::Item(index)) => format!("{}/{index}", parent.pointer()),
            Self::Below(parent, Step::Member(name)) => member(&parent.pointer(), name),
        }
    }

    /// Returns at most the first `depth` steps of the pointer.
    pub(super) fn pointer_above(&self, depth: usize) -> String {
        match self {
            Self::Below(parent, _) if self.depth() > depth => parent.pointer_above(depth),
            _ => self.pointer(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Below(parent, _) => parent.depth() + 1,
        }
    }
}

/// The kind of content at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// Content that the schema describes, with the remaining steps to data for templates.
    Described(Option<&'static [&'static str]>),
    Data,
}

impl Region {
    /// Returns the region of a whole body.
    pub(super) fn of(layout: &Layout) -> Self {
        Self::Described(Some(layout.data).filter(|steps| !steps.is_empty()))
    }

    /// Returns the region of the value at the end of a path that begins in this region.
    pub(super) fn enter(self, path: &Path<'_>) -> Self {
        let Self::Described(steps) = self else { return self };
        let rest = match (steps, path) {
            (Some(["*", rest @ ..]), Path::Below(_, Step::Item(_))) => Some(rest),
            (Some([first, rest @ ..]), Path::Below(_, Step::Member(name))) if first == name => Some(rest),
            _ => None,
        };
        match rest {
            Some([]) => Self::Data,
            rest => Self::Described(rest),
        }
    }
}
