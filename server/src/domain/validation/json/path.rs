//! Where in a document a value lies. Pointers are written out for those few values that something is to be said about.

use crate::domain::validation::{json::Layout, member};

/// The way from the document down to a value.
pub(super) enum Path<'a> {
    Root,
    Below(&'a Path<'a>, Step<'a>),
}

/// From a value to one in it.
pub(super) enum Step<'a> {
    Item(usize),
    Member(&'a str),
}

impl Path<'_> {
    /// The JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Below(parent, Step::Item(index)) => format!("{}/{index}", parent.pointer()),
            Self::Below(parent, Step::Member(name)) => member(&parent.pointer(), name),
        }
    }

    /// The pointer's first steps, at most so many.
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

/// What kind of thing lies at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// What the schema describes; the steps from there to data.
    Described(Option<&'static [&'static str]>),
    /// Data for templates.
    Data,
}

impl Region {
    /// That of a whole body.
    pub(super) fn of(layout: &Layout) -> Self {
        Self::Described(Some(layout.data).filter(|steps| !steps.is_empty()))
    }

    /// That of the value at the end of a path which begins in this one.
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
