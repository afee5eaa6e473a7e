//! Comparison of two texts, line by line, with the changed words of changed lines. What is shown is bounded, whatever the
//! texts contain.

#[cfg(feature = "server")]
pub mod compare;
#[cfg(feature = "server")]
mod words;

use serde::{Deserialize, Serialize};

/// The comparison of an older and a newer text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Diff {
    /// The texts are equal.
    Equal,
    /// Only their line breaks differ: CRLF or LF, or one at the end.
    LineBreaks,
    /// Their lines differ.
    Changes(Changes),
}

/// The changes from an older to a newer text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Number of lines that only the older text contains.
    pub removed: usize,
    /// Number of lines that only the newer text contains.
    pub added: usize,
    pub blocks: Vec<Block>,
    /// Number of removed and added lines that aren't shown because there are too many.
    pub hidden: usize,
}

/// Consecutive lines. Numbers of lines begin with 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// Lines of both texts.
    Same {
        /// Number of the first line in the older text.
        older: usize,
        /// Number of the first line in the newer text.
        newer: usize,
        lines: Vec<Line>,
    },
    /// Number of unchanged lines that aren't shown.
    Folded(usize),
    /// Lines that are replaced by others. Either list may be empty.
    Changed {
        /// Number of the first removed line in the older text.
        older: usize,
        removed: Vec<Line>,
        /// Number of the first added line in the newer text.
        newer: usize,
        added: Vec<Line>,
    },
}

/// A line, shortened if it is too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Number of characters left out at the beginning.
    pub before: usize,
    pub segments: Vec<Segment>,
    /// Number of characters left out at the end.
    pub after: usize,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub text: String,
    /// Whether the line differs here from the one that it replaces or is replaced by. Never set if they have little in
    /// common.
    pub changed: bool,
}
