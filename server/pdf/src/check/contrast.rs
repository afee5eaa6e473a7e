//! Contrast of text with its background (WCAG 2.2, success criterion 1.4.3). No level of PDF/A or PDF/UA depends on it.
//!
//! Only certain cases are reported: text in one colour, on paper or on a shape in one colour that contains it. Text over
//! pictures, gradients or edges is left to a person, and so are text that something later may cover, and artifacts.

mod layers;

use std::{cell::LazyCell, mem};

use super::colours::Colours;
use super::levels::{Element, MAX_TEXT};
use super::places::area::{Area, Spot};
use super::places::fonts::Fonts;
use super::places::painter::{Canvas, Colour, Owner, Painted, Painter};
use super::shown::Shown;
use super::structure::Tree;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::page_tree::page_size;
use layers::Layers;

/// Most pairs of colours that are reported.
const MAX_PAIRS: usize = 20;
/// Most lines of a page with one pair of colours, and with any, that are remembered until it is known which are covered.
const MAX_LINES_OF_PAIR: usize = 20;
const MAX_LINES: usize = 400;
/// Most bytes of content that are read. Then the remaining pages are not.
const MAX_BYTES: usize = 64 << 20;
/// Font size from which text counts as large, in points. WCAG requires it to be bold below 18 points, which a font doesn't
/// tell for certain.
const LARGE: f64 = 14.0;
/// Rounding of font sizes, in points.
const TOLERANCE: f64 = 0.05;
/// Contrast that text and large text must have.
const REQUIRED: f64 = 4.5;
const REQUIRED_IF_LARGE: f64 = 3.0;
const PAPER: Colour = [255; 3];

/// The first text with one pair of colours whose contrast is too low.
#[derive(Debug, Clone, PartialEq)]
pub struct LowContrast {
    /// Page number, from 1.
    pub page: usize,
    /// Width and height of the page in points.
    pub page_size: Option<(f64, f64)>,
    /// The structure element that the text belongs to.
    pub element: Option<Element>,
    /// At most 100 characters of the text.
    pub text: Option<String>,
    /// Rectangle on the page in points: left, bottom, right, top, in user space.
    pub rectangle: Option<[f64; 4]>,
    /// Colour of the text, as red, green and blue of sRGB.
    pub colour: [u8; 3],
    /// Colour of its background.
    pub background: [u8; 3],
    /// Contrast of both, from 1 to 21, as WCAG 2.2 defines it.
    pub ratio: f64,
    /// Least contrast for text of this size: 3 or 4.5.
    pub required: f64,
}

/// A page that may have text with too little contrast: its number, from 1, and its colours.
pub(super) type DoubtfulPage = (usize, Colours);

/// Returns the pages whose colours, or those of forms, may contrast too little. `pages` are all pages of the document, in
/// order.
pub(super) fn doubtful_pages(pages: &[ObjectNumber], shown: &Shown) -> Vec<DoubtfulPage> {
    let mut colours_of_forms = Colours::default();
    for colours in shown.drawings.iter().filter_map(|form| shown.colours.get(form)) {
        colours_of_forms.extend(colours);
    }
    let with_colours = (1..).zip(pages).map(|(page, number)| {
        let mut on_page = colours_of_forms.clone();
        if let Some(colours) = shown.colours.get(number) {
            on_page.extend(colours);
        }
        (page, on_page)
    });
    let contrasts = Contrasts::default();
    with_colours
        .filter(|(_, colours)| contrasts.may_find_more(colours))
        .collect()
}

/// Follows pages, and returns texts with too little contrast: the first one for each pair of colours, and at most 20.
pub(super) fn follow(document: &Document, pages: &[ObjectNumber], doubtful: &[DoubtfulPage]) -> Vec<FaintText> {
    let mut fonts = Fonts::default();
    let mut contrasts = Contrasts::default();
    let mut bytes = 0;
    for (page, colours) in doubtful {
        if !contrasts.may_find_more(colours) {
            continue;
        }
        contrasts.begin_page(*page);
        let mut painter = Painter::new(document, &mut fonts, &mut contrasts);
        // What was found before an error is kept.
        let _ = painter.page(pages[page - 1]);
        bytes += painter.bytes;
        contrasts.end_page();
        if bytes > MAX_BYTES || contrasts.found.len() == MAX_PAIRS {
            break;
        }
    }
    contrasts.found
}

/// Adds page sizes and structure elements to texts with too little contrast.
pub(super) fn locate(
    document: &Document,
    pages: &[ObjectNumber],
    tree: Option<&Tree>,
    texts: Vec<FaintText>,
) -> Vec<LowContrast> {
    let located = texts.into_iter().map(|found| {
        let content = match found.owner {
            Owner::Content(owner, identifier) => Some((owner, identifier)),
            Owner::Nothing | Owner::Artifact => None,
        };
        LowContrast {
            page: found.page,
            page_size: pages
                .get(found.page - 1)
                .and_then(|number| page_size(document, *number).ok()),
            element: tree.zip(content).and_then(|(tree, content)| tree.element_with(content)),
            text: found.spot.text(),
            rectangle: found.spot.area.map(|Area(corners)| corners),
            colour: found.pair.colour,
            background: found.pair.background,
            ratio: contrast(found.pair.colour, found.pair.background),
            required: found.pair.required,
        }
    });
    located.collect()
}

/// Colours of a text and its background.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    colour: Colour,
    background: Colour,
    required: f64,
}

/// A text with too little contrast.
pub(super) struct FaintText {
    page: usize,
    owner: Owner,
    pair: Pair,
    spot: Spot,
    /// Of the first text of the line, in UTF-16.
    first_characters: Vec<u16>,
}

#[derive(Default)]
struct Contrasts {
    page: usize,
    layers: Layers,
    /// Lines of text of the current page, in the order in which they are painted.
    lines: Vec<FaintText>,
    /// The first text for each pair of colours, on finished pages.
    found: Vec<FaintText>,
    /// The last colour with enough contrast to every layer, with the number of their colours then.
    last_fine: Option<(Colour, usize)>,
}

impl Canvas for Contrasts {
    fn paint(&mut self, painted: Painted) {
        if painted.text.is_some() {
            self.text(&painted);
        } else if let Some(layer) = self.layers.add(&painted) {
            let is_visible = |area: Area| !layer.may_cover(area.middle());
            self.lines.retain(|text| text.spot.area.is_none_or(is_visible));
        }
    }

    /// Most texts have enough contrast to everything on their page, and no text was found that may be their shadow.
    fn needs_text(&mut self, painted: &Painted) -> bool {
        let may_be_low = painted.owner != Owner::Artifact
            && painted
                .colour
                .is_some_and(|colour| painted.opacity < 1.0 || !self.is_fine(colour));
        may_be_low || !self.lines.is_empty()
    }
}

impl Contrasts {
    fn begin_page(&mut self, page: usize) {
        self.page = page;
        self.layers.clear();
        self.last_fine = None;
    }

    /// Returns whether a page with these colours may have text with too little contrast, in other colours than those found
    /// before.
    fn may_find_more(&self, colours: &Colours) -> bool {
        let with_luminance = |colour: &Colour| (*colour, luminance(*colour));
        let backgrounds = colours.shapes.iter().chain([&PAPER]);
        let backgrounds: Vec<_> = backgrounds.map(with_luminance).collect();
        let is_low_on_some = |(colour, own): (Colour, f64)| {
            backgrounds.iter().any(|(background, luminance)| {
                let is_known = |found: &FaintText| (found.pair.colour, found.pair.background) == (colour, *background);
                colour != *background && ratio(own, *luminance) < REQUIRED && !self.found.iter().any(is_known)
            })
        };
        colours.has_others || colours.texts.iter().map(with_luminance).any(is_low_on_some)
    }

    /// Returns whether a colour has enough contrast to paper and every layer.
    fn is_fine(&mut self, colour: Colour) -> bool {
        let fine = (colour, self.layers.colours().len());
        if self.last_fine == Some(fine) {
            return true;
        }
        let own = luminance(colour);
        let mut luminances = self.layers.colours().iter().map(|(_, luminance)| *luminance);
        let is_fine = luminances.all(|background| ratio(own, background) >= REQUIRED);
        if is_fine {
            self.last_fine = Some(fine);
        }
        is_fine
    }

    fn text(&mut self, painted: &Painted) {
        let Some((text, area)) = painted.text.as_ref().zip(painted.area) else {
            return;
        };
        // Shadows are painted before the text that casts them.
        let characters = LazyCell::new(|| text.characters());
        self.lines.retain(|text| {
            let is_shadow =
                text.spot.overlaps(area) && text.first_characters == characters[..characters.len().min(MAX_TEXT)];
            !is_shadow
        });
        let Some(colour) = painted.colour.filter(|_| painted.owner != Owner::Artifact) else {
            return;
        };
        if painted.opacity >= 1.0 && self.is_fine(colour) {
            return;
        }
        let required = if text.size() < LARGE - TOLERANCE {
            REQUIRED
        } else {
            REQUIRED_IF_LARGE
        };
        let visible = area.middle();
        if visible.within(painted.clip.area).extent() < visible.extent() {
            return;
        }
        let Some(background) = self.layers.below(visible) else {
            return;
        };
        let colour = blend(colour, background, painted.opacity);
        let pair = Pair {
            colour,
            background,
            required,
        };
        // Text in the colour of its background is meant for machines.
        if colour == background || contrast(colour, background) >= required {
            return;
        }
        // The rest of a line.
        if let Some(last) = self.lines.last_mut()
            && (last.pair, last.owner) == (pair, painted.owner)
            && painted.owner != Owner::Nothing
            && last
                .spot
                .area
                .is_some_and(|line| line.overlaps_vertically(area.middle()))
        {
            last.spot.add(Some(area), &characters);
            return;
        }
        let is_known = self.found.iter().any(|found| found.pair == pair);
        let of_pair = self.lines.iter().filter(|text| text.pair == pair).count();
        if is_known || of_pair == MAX_LINES_OF_PAIR || self.lines.len() == MAX_LINES {
            return;
        }
        let mut spot = Spot::default();
        spot.add(Some(area), &characters);
        self.lines.push(FaintText {
            page: self.page,
            owner: painted.owner,
            pair,
            spot,
            first_characters: characters[..characters.len().min(MAX_TEXT)].to_vec(),
        });
    }

    /// Keeps the first text for each pair of colours that nothing covers.
    fn end_page(&mut self) {
        for text in mem::take(&mut self.lines) {
            if let Some(found) = self.found.iter_mut().find(|found| found.pair == text.pair) {
                // The rest of the paragraph.
                if found.owner == text.owner && text.owner != Owner::Nothing {
                    found.spot.join(&text.spot);
                }
            } else if self.found.len() < MAX_PAIRS && text.spot.text().is_some_and(|text| has_letters(&text)) {
                self.found.push(text);
            }
        }
    }
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn contrast(one: Colour, other: Colour) -> f64 {
    ratio(luminance(one), luminance(other))
}

/// Returns the contrast ratio of two luminances: from 1 to 21 (WCAG 2.2, definition of contrast ratio).
fn ratio(one: f64, other: f64) -> f64 {
    let (one, other) = (one + 0.05, other + 0.05);
    one.max(other) / one.min(other)
}

/// Returns the relative luminance of a colour: from 0 to 1 (WCAG 2.2, definition of relative luminance).
fn luminance(colour: Colour) -> f64 {
    let linear = |component: u8| {
        let share = f64::from(component) / 255.0;
        if share <= 0.040_45 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns a colour painted over another.
fn blend(colour: Colour, background: Colour, opacity: f64) -> Colour {
    let opacity = opacity.clamp(0.0, 1.0);
    let mut blended = background;
    for (below, above) in blended.iter_mut().zip(colour) {
        *below = (f64::from(above) * opacity + f64::from(*below) * (1.0 - opacity)).round() as u8;
    }
    blended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_wcag() {
        let white = [255; 3];
        assert!((contrast(white, [0; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x76; 3], white) - 4.542).abs() < 0.001);
        assert!((contrast([0, 0, 255], white) - 8.592).abs() < 0.001);
        assert!((contrast(white, white) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn transparent_colours_are_mixed() {
        assert_eq!(blend([0; 3], [255, 200, 0], 0.5), [128, 100, 0]);
        assert_eq!(blend([10; 3], [255; 3], 1.0), [10; 3]);
    }
}
