//! Objects that conform, as specimens for others that differ from them only in numbers and texts. In a large document
//! these are almost all objects, mainly structure elements.

use std::ops::Range;

use super::shapes::{Shape, Value};
use crate::object::ObjectNumber;

/// Longest specimen in bytes, from `obj` to the end. Longer objects are rare, and no two are alike.
const MAX_LENGTH: usize = 512;
/// More specimens than most documents have kinds of elements.
const MAX_SPECIMENS: usize = 32;
/// An integer of at most this many digits is within all limits.
const MAX_DIGITS: usize = 9;

/// A number or a text of a specimen, and its range in the file.
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) meaning: Meaning,
}

/// Values that another object may have in the same place.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// Any other integer.
    Integer,
    /// A reference to one of these values.
    Reference(&'static [Value]),
    /// Any other text in parentheses.
    Text,
}

#[derive(Default)]
pub(super) struct Specimens<'a> {
    /// Specimens that match move to the front.
    kept: Vec<Specimen<'a>>,
}

struct Specimen<'a> {
    /// Values that were expected.
    values: &'static [Value],
    shape: &'static Shape,
    /// Places that may differ, each with the bytes before it.
    places: Vec<(&'a [u8], Meaning)>,
    end: &'a [u8],
}

impl<'a> Specimens<'a> {
    /// Stores an object that conforms and is not a stream. `places` are those of its numbers and texts, in order,
    /// except where only certain values are allowed.
    pub(super) fn keep(
        &mut self,
        bytes: &'a [u8],
        object: Range<usize>,
        values: &'static [Value],
        shape: &'static Shape,
        places: &[Place],
    ) {
        if object.len() > MAX_LENGTH {
            return;
        }
        let mut kept = Vec::with_capacity(places.len());
        let mut rest = object.start;
        for place in places {
            if place.meaning.length(&bytes[place.range.start..]) == place.range.len() {
                kept.push((&bytes[rest..place.range.start], place.meaning));
                rest = place.range.end;
            }
        }
        if self.kept.len() == MAX_SPECIMENS {
            self.kept.pop();
        }
        self.kept.push(Specimen {
            values,
            shape,
            places: kept,
            end: &bytes[rest..object.end],
        });
    }

    /// Returns the shape of an object, from `obj` to its end, if it is like a specimen for the same expected values.
    /// Stores the objects that it refers to in `references`.
    pub(super) fn shape_of(
        &mut self,
        object: &[u8],
        values: &'static [Value],
        references: &mut Vec<(ObjectNumber, &'static [Value])>,
    ) -> Option<&'static Shape> {
        if object.len() > MAX_LENGTH {
            return None;
        }
        let is_like = |specimen: &Specimen| {
            references.clear();
            std::ptr::eq(specimen.values, values) && specimen.is_like(object, references)
        };
        let index = self.kept.iter().position(is_like)?;
        let shape = self.kept[index].shape;
        self.kept.swap(index, index.saturating_sub(1));
        Some(shape)
    }
}

impl Specimen<'_> {
    fn is_like(&self, object: &[u8], references: &mut Vec<(ObjectNumber, &'static [Value])>) -> bool {
        let mut rest = object;
        for (before, meaning) in &self.places {
            let Some(after) = rest.strip_prefix(*before) else {
                return false;
            };
            let length = meaning.length(after);
            if length == 0 {
                return false;
            }
            let (written, after) = after.split_at(length);
            if let Meaning::Reference(values) = meaning {
                let number = written
                    .iter()
                    .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
                references.push((number, *values));
            }
            rest = after;
        }
        rest == self.end
    }
}

impl Meaning {
    /// Returns the length of the value at the beginning of `text` if it has the simple form that is compared: digits
    /// without a sign, or a text without escapes. Returns 0 otherwise.
    fn length(self, text: &[u8]) -> usize {
        match self {
            Self::Integer | Self::Reference(_) => {
                let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if length > MAX_DIGITS { 0 } else { length }
            }
            Self::Text => {
                let end = text.iter().skip(1).position(|byte| matches!(byte, b'(' | b')' | b'\\'));
                match end.map(|end| end + 1) {
                    Some(end) if text[0] == b'(' && text[end] == b')' => end + 1,
                    _ => 0,
                }
            }
        }
    }
}
