//! The operands of an operator.

use super::super::content_streams::MAX_OPERANDS;
use crate::PdfError;
use crate::object::Object;
use crate::parse::parse_number;

#[derive(Default)]
pub(super) struct Operands<'c> {
    /// Offset of the first one.
    pub(super) start: Option<usize>,
    pub(super) numbers: Vec<&'c [u8]>,
    /// The first name outside of a dictionary.
    pub(super) name: Option<&'c [u8]>,
    /// Index in `numbers` of the marked-content identifier.
    identifier: Option<usize>,
    depth: usize,
}

impl<'c> Operands<'c> {
    pub(super) fn clear(&mut self) {
        self.start = None;
        self.numbers.clear();
        self.name = None;
        self.identifier = None;
        self.depth = 0;
    }

    /// Adds a number at an offset. Fails if there are too many.
    pub(super) fn add_number(&mut self, start: usize, number: &'c [u8]) -> Result<(), PdfError> {
        if self.numbers.len() == MAX_OPERANDS {
            return Err(PdfError::damaged(start, "expected an operator in a content stream"));
        }
        self.start.get_or_insert(start);
        self.numbers.push(number);
        Ok(())
    }

    pub(super) fn add_name(&mut self, name: &'c [u8]) {
        if self.depth == 0 {
            self.name.get_or_insert(name);
        } else if name == b"MCID" {
            self.identifier = Some(self.numbers.len());
        }
    }

    pub(super) fn begin_dictionary(&mut self) {
        self.depth += 1;
    }

    pub(super) fn end_dictionary(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns the marked-content identifier; `None` if there is none.
    pub(super) fn identifier(&self) -> Option<usize> {
        let raw = self.numbers.get(self.identifier?)?;
        std::str::from_utf8(raw).ok()?.parse().ok()
    }

    /// Returns the last `N` numbers; `None` if there are fewer.
    pub(super) fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let numbers = self.numbers.last_chunk::<N>()?;
        let mut parsed = [0.0; N];
        for (parsed, raw) in parsed.iter_mut().zip(numbers) {
            *parsed = parse_number(raw).as_ref().and_then(Object::as_number)?;
        }
        Some(parsed)
    }
}
