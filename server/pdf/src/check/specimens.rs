//! Objects that were found to conform, for others that differ from them by numbers and texts only: in a large document
//! almost all do, the elements of its structure above all.

use std::ops::Range;

use super::shapes::{Shape, Value};
use crate::object::ObjectNumber;

/// In bytes, from `obj` to the end. Longer objects are few, and no two are alike.
const MAX_LENGTH: usize = 512;
/// More than there are kinds of element in most documents.
const MAX_SPECIMENS: usize = 32;
/// An integer of so many digits is within all limits.
const MAX_DIGITS: usize = 9;

/// A number or a text of a specimen, and where it is written.
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) meaning: Meaning,
}

/// What another object may have in the same place.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// Any other integer.
    Integer,
    /// A reference to what may stand there.
    Reference(&'static [Value]),
    /// Any other text in parentheses.
    Text,
}

#[derive(Default)]
pub(super) struct Specimens<'a> {
    /// Those that others are like move to the front.
    kept: Vec<Specimen<'a>>,
}

struct Specimen<'a> {
    /// What was expected of it.
    values: &'static [Value],
    shape: &'static Shape,
    /// What may differ, each with the bytes before it.
    places: Vec<(&'a [u8], Meaning)>,
    end: &'a [u8],
}

impl<'a> Specimens<'a> {
    /// Keeps an object that conforms and is no stream. `places` are those of its numbers and texts, in their order; where
    /// not any will do they are left out.
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

    /// Whether an object, from `obj` to its end, is like one of which the same was expected: gives the shape, and in
    /// `references` what it refers to.
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
    /// The length of what stands at the beginning of `text`, if it is of the simple form that is compared: digits
    /// without a sign, or a text without escapes. Else 0.
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
