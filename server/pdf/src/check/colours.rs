//! Colours in which content streams paint. They are noted when the streams are checked, so that only pages that may have
//! text with too little contrast are followed again.

use super::places::painter::{BLACK, Colour, colour};
use crate::parse::parse_number;

/// Most colours of a stream that are told apart.
const MAX_COLOURS: usize = 32;

/// The current colour (ISO 32000-1, 8.6.8): sRGB, or `None` for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fill(Option<Colour>);

impl Default for Fill {
    fn default() -> Self {
        Self(Some(BLACK))
    }
}

impl Fill {
    /// Applies an operator that sets the colour. `numbers` are its operands, or more if it has more than three.
    pub(super) fn set(&mut self, operator: &[u8], name: Option<&[u8]>, numbers: &[&[u8]]) {
        match operator {
            b"g" | b"rg" | b"sc" | b"scn" => {
                let mut operands = [0.0; 4];
                for (operand, raw) in operands.iter_mut().zip(numbers) {
                    *operand = parse_number(raw)
                        .and_then(|number| number.as_number())
                        .unwrap_or_default();
                }
                let count = numbers.len().min(operands.len());
                self.0 = colour(&operands[..count]).filter(|_| name.is_none());
            }
            b"cs" => self.0 = Some(BLACK).filter(|_| name != Some(b"Pattern")),
            _ => {}
        }
    }
}

/// Colours that one or several streams paint with.
#[derive(Debug, Clone, Default)]
pub(super) struct Colours {
    pub(super) texts: Vec<Colour>,
    pub(super) shapes: Vec<Colour>,
    /// Whether there may be other colours: mixed ones, or too many.
    pub(super) has_others: bool,
}

impl Colours {
    /// Notes the colour of text.
    pub(super) fn text(&mut self, Fill(colour): Fill) {
        self.has_others |= colour.is_some_and(|colour| !add(&mut self.texts, colour));
    }

    /// Notes the colour of a shape.
    pub(super) fn shape(&mut self, Fill(colour): Fill) {
        self.has_others |= colour.is_some_and(|colour| !add(&mut self.shapes, colour));
    }

    /// Adds the colours of another stream.
    pub(super) fn extend(&mut self, other: &Self) {
        self.has_others |= other.has_others;
        for colour in &other.texts {
            self.text(Fill(Some(*colour)));
        }
        for colour in &other.shapes {
            self.shape(Fill(Some(*colour)));
        }
    }
}

/// Adds a colour to a set. Returns `false` if there are too many.
fn add(colours: &mut Vec<Colour>, colour: Colour) -> bool {
    let is_known = colours.contains(&colour);
    let has_room = colours.len() < MAX_COLOURS;
    if !is_known && has_room {
        colours.push(colour);
    }
    is_known || has_room
}
