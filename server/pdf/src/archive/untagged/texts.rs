//! Text objects, and the tagged content before and after those that are untagged.

use std::ops::Range;

use super::operands::Operands;
use super::{Line, Operators, Tagged, Text};

/// The text objects of a stream.
#[derive(Default)]
pub(super) struct Texts<'c> {
    pub(super) untagged: Vec<Text<'c>>,
    open: Option<OpenText<'c>>,
    /// The current line.
    pub(super) line: Option<Line<'c>>,
    /// Operands of the last `Tf`.
    pub(super) font: Option<Operands<'c>>,
    /// The current tagged content, or the last one.
    tagged: Option<Tagged<'c>>,
    tagged_has_text: bool,
    /// Indices of the texts before that content, after the one before.
    waiting: Range<usize>,
}

struct OpenText<'c> {
    start: usize,
    line: Option<Line<'c>>,
    is_untagged: bool,
    is_tagged: bool,
}

impl Texts<'_> {
    pub(super) fn begin(&mut self, start: usize) {
        self.line = None;
        self.open = Some(OpenText {
            start,
            line: None,
            is_untagged: false,
            is_tagged: false,
        });
    }

    /// Notes that text of an element is shown.
    pub(super) fn show_content(&mut self) {
        if let Some(tagged) = &mut self.tagged {
            if !self.tagged_has_text {
                tagged.first_line = self.line;
            }
            tagged.last_line = self.line;
            self.tagged_has_text = true;
        }
        self.show_marked();
    }

    /// Notes that text within an artifact or an element is shown.
    pub(super) fn show_marked(&mut self) {
        if let Some(text) = &mut self.open {
            text.is_tagged = true;
        }
    }

    pub(super) fn show_untagged(&mut self) {
        if let Some(text) = &mut self.open {
            if !text.is_untagged {
                text.line = self.line;
            }
            text.is_untagged = true;
        }
    }

    /// Ends a text object. Returns its range if all of its text is untagged.
    pub(super) fn end(&mut self, end: usize) -> Option<Operators> {
        let text = self.open.take().filter(|text| text.is_untagged && !text.is_tagged)?;
        let range = text.start..end;
        self.untagged.push(Text {
            range: range.clone(),
            line: text.line,
            before: self.tagged,
            after: None,
        });
        Some(range)
    }

    pub(super) fn begin_tagged(&mut self, identifier: usize) {
        self.end_tagged();
        self.tagged = Some(Tagged {
            identifier,
            first_line: None,
            last_line: None,
        });
    }

    /// Notes the last tagged content as that after the texts that were before it.
    pub(super) fn end_tagged(&mut self) {
        for text in &mut self.untagged[self.waiting.clone()] {
            text.after = self.tagged;
        }
        self.waiting = self.waiting.end..self.untagged.len();
        self.tagged_has_text = false;
    }
}
