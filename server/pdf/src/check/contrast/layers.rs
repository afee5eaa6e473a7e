//! What is painted below text.

use super::{PAPER, blend, luminance};
use crate::check::places::area::Area;
use crate::check::places::painter::{Colour, Painted, Shape};
use crate::check::places::path::Outline;

/// Most layers of a page. The background of later text is not certain.
const MAX_LAYERS: usize = 4096;
/// Most points of layers in a document that are compared with texts: a few milliseconds.
const MAX_COMPARISONS: usize = 1_000_000;
/// Most colours of a page that are told apart.
const MAX_COLOURS: usize = 32;
/// Lines and shapes up to this width, in points, are no background.
const MAX_LINE: f64 = 3.0;
/// Greatest share of a text that a line or edge may cover.
const MAX_COVERED: f64 = 0.2;

/// The graphics of a page, in the order in which they are painted.
pub(super) struct Layers {
    painted: Vec<Layer>,
    /// The different colours with their luminances, at first that of paper.
    colours: Vec<(Colour, f64)>,
    comparisons: usize,
    is_full: bool,
}

pub(super) struct Layer {
    area: Area,
    /// `None` if its shape is not simple.
    outline: Option<Outline>,
    /// Its inside, which the layer doesn't cover.
    hole: Option<Outline>,
    /// `None` if it isn't one colour.
    colour: Option<Colour>,
}

impl Layer {
    /// Returns whether the layer may cover more than the edge of a text.
    pub(super) fn may_cover(&self, text: Area) -> bool {
        let is_in_hole = self.hole.as_ref().is_some_and(|hole| hole.contains(&text));
        !is_in_hole && self.area.within(Some(text)).extent() > text.extent() * MAX_COVERED
    }
}

impl Default for Layers {
    fn default() -> Self {
        Self {
            painted: Vec::new(),
            colours: vec![(PAPER, luminance(PAPER))],
            comparisons: 0,
            is_full: false,
        }
    }
}

impl Layers {
    pub(super) fn clear(&mut self) {
        self.painted.clear();
        self.colours.truncate(1);
        self.is_full = false;
    }

    /// Returns the colours that text may be on, with their luminances: that of paper, and those of layers, as far as they
    /// are kept.
    pub(super) fn colours(&self) -> &[(Colour, f64)] {
        &self.colours
    }

    /// Adds graphics. Returns what may cover earlier text.
    pub(super) fn add(&mut self, painted: &Painted) -> Option<&Layer> {
        let area = painted.area?.within(painted.clip.area);
        let outlines = match painted.shape {
            Shape::Lines(width) if width <= MAX_LINE => return None,
            Shape::Filled(outlines) => outlines,
            Shape::Lines(_) | Shape::Other | Shape::Repeated => &[],
        };
        if area.thickness() <= MAX_LINE || painted.opacity == 0.0 {
            return None;
        }
        if self.painted.len() == MAX_LAYERS {
            self.is_full = true;
            return None;
        }
        let (outline, hole) = match outlines {
            [outline] => (Some(outline.clone()), None),
            [outline, hole] => (Some(outline.clone()), Some(hole.clone())),
            _ => (None, None),
        };
        let colour = painted
            .colour
            .filter(|_| outline.is_some() && painted.clip.is_rectangle);
        let colour = colour.and_then(|colour| {
            if painted.opacity >= 1.0 {
                return Some(colour);
            }
            Some(blend(colour, self.below(area)?, painted.opacity))
        });
        if let Some(colour) = colour
            && self.colours.len() < MAX_COLOURS
            && !self.colours.iter().any(|(known, _)| *known == colour)
        {
            self.colours.push((colour, luminance(colour)));
        }
        self.painted.push(Layer {
            area,
            outline,
            hole,
            colour,
        });
        // Lines, such as those of watermarks and frames, cover little of their box, and only the box of repeated forms is known.
        let may_fill_box = !matches!(painted.shape, Shape::Lines(_) | Shape::Repeated);
        self.painted.last().filter(|_| may_fill_box)
    }

    /// Returns the colour below an area; `None` if it is not one colour for certain.
    pub(super) fn below(&mut self, area: Area) -> Option<Colour> {
        if self.is_full {
            return None;
        }
        for layer in self.painted.iter().rev() {
            self.comparisons += 1 + layer.outline.as_ref().map_or(0, Outline::len);
            if self.comparisons > MAX_COMPARISONS {
                return None;
            }
            if layer.may_cover(area) {
                let is_around = layer.hole.is_none()
                    && layer.area.within(Some(area)).extent() >= area.extent()
                    && layer.outline.as_ref().is_some_and(|outline| outline.contains(&area));
                return layer.colour.filter(|_| is_around);
            }
        }
        Some(PAPER)
    }
}
