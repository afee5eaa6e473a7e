//! Finds the words of pages, and their places.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro::hayro_interpret::font::{Glyph, GlyphRun};
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::util::TransformExt as _;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};
use hayro::hayro_syntax::Pdf;
use hayro::kurbo::{BezPath, Point, Rect};

use super::{RasterError, check_demand};
use crate::document::Document;
use crate::object_streams::unpack;
use crate::page_tree::list_pages;

/// Length in characters at which words are split.
const LONGEST: usize = 64;
/// Glyphs with a larger gap belong to different words, in ems. Letter-spacing is usually smaller.
const GAP: f64 = 0.3;
/// Units of glyphs per em.
const UNITS: f64 = 1000.0;
/// Extent of a line of text above and below its baseline, in these units.
const ASCENT: f64 = 800.0;
const DESCENT: f64 = -220.0;
/// Advance of glyphs whose font has no widths.
const USUAL_ADVANCE: f32 = 500.0;
const PARTS: f64 = 10_000.0;

/// A word on a page: glyphs between white space.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// Page number, from 1.
    pub page: usize,
    /// Its text, with U+FFFD for glyphs without text.
    pub text: String,
    /// Left, top, width and height, in ten-thousandths of the page.
    pub place: [u16; 4],
}

/// Returns the words of the first `pages` pages of a PDF in the order in which they are drawn, at most `most`. The
/// document is limited like that of [`rasterise`](super::rasterise); no image is decoded.
pub fn words(pdf: &[u8], pages: usize, most: usize) -> Result<Vec<Word>, RasterError> {
    let pdf = &*unpack(pdf)?;
    let document = Document::open(&[pdf])?;
    let numbers = list_pages(&document, document.root()?)?;
    for (index, number) in numbers.iter().take(pages).enumerate() {
        check_demand(&document, *number, index + 1)?;
    }
    let mut found = Vec::new();
    // The library should not panic, but it is young, and the pages are untrusted.
    let read = catch_unwind(AssertUnwindSafe(|| read(pdf, pages, most, &mut found)));
    if read.is_err() {
        return Err(RasterError::NotDrawn { page: 1 });
    }
    Ok(found)
}

fn read(pdf: &[u8], pages: usize, most: usize, found: &mut Vec<Word>) {
    let Ok(pdf) = Pdf::new(pdf.to_vec()) else { return };
    let cache = InterpreterCache::new();
    for (index, page) in pdf.pages().iter().take(pages).enumerate() {
        let (width, height) = page.render_dimensions();
        let (width, height) = (f64::from(width), f64::from(height));
        let mut context = Context::new(
            page.initial_transform(true).to_kurbo(),
            Rect::new(0.0, 0.0, width, height),
            &cache,
            page.xref(),
            InterpreterSettings::default(),
        );
        let mut reader = Reader {
            page: index + 1,
            width,
            height,
            most,
            found,
            open: None,
        };
        interpret_page(page, &mut context, &mut reader);
        reader.close();
    }
}

/// Collects the words of a page.
struct Reader<'f> {
    page: usize,
    /// In points.
    width: f64,
    height: f64,
    most: usize,
    found: &'f mut Vec<Word>,
    open: Option<Open>,
}

/// A word that may continue.
struct Open {
    text: String,
    bounds: Rect,
    /// Where the next glyph would begin.
    end: Point,
}

impl Reader<'_> {
    fn add(&mut self, text: &str, bounds: Rect, start: Point, end: Point, em: f64) {
        if text.trim().is_empty() {
            return self.close();
        }
        let continues = self
            .open
            .as_ref()
            .is_some_and(|open| open.end.distance(start) <= GAP * em && open.text.chars().count() < LONGEST);
        if !continues {
            self.close();
        }
        match &mut self.open {
            Some(open) => {
                open.text.push_str(text);
                open.bounds = open.bounds.union(bounds);
                open.end = end;
            }
            None => {
                self.open = Some(Open {
                    text: text.to_owned(),
                    bounds,
                    end,
                });
            }
        }
    }

    fn close(&mut self) {
        let Some(Open { text, bounds, .. }) = self.open.take() else {
            return;
        };
        let visible = bounds.intersect(Rect::new(0.0, 0.0, self.width, self.height));
        if visible.area() <= 0.0 || self.found.len() >= self.most {
            return;
        }
        let part = |length: f64, whole: f64| (PARTS * length / whole).round().clamp(0.0, PARTS) as u16;
        self.found.push(Word {
            page: self.page,
            text,
            place: [
                part(visible.x0, self.width),
                part(visible.y0, self.height),
                part(visible.width(), self.width),
                part(visible.height(), self.height),
            ],
        });
    }
}

impl<'a> Device<'a> for Reader<'_> {
    fn draw_glyph_run(&mut self, glyph_run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        for glyph in glyph_run.glyphs() {
            let transform = props.transform * glyph.transform();
            let advance = match &**glyph {
                Glyph::Outline(glyph) => glyph.advance_width(),
                Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let advance = f64::from(advance.unwrap_or(USUAL_ADVANCE));
            let start = transform * Point::ORIGIN;
            let em = start.distance(transform * Point::new(0.0, UNITS));
            let bounds = transform.transform_rect_bbox(Rect::new(0.0, DESCENT, advance, ASCENT));
            let end = transform * Point::new(advance, 0.0);
            match glyph.as_unicode() {
                Some(BfString::Char(character)) => {
                    self.add(character.encode_utf8(&mut [0; 4]), bounds, start, end, em);
                }
                Some(BfString::String(text)) => self.add(&text, bounds, start, end, em),
                None => self.add("\u{FFFD}", bounds, start, end, em),
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: &[u8] = include_bytes!("../../tests/fixtures/letter.pdf");

    #[test]
    fn words_are_found_on_their_pages_with_their_places() {
        let found = words(LETTER, 2, 1000).expect("words");
        let texts = |page| {
            let words = found.iter().filter(move |word| word.page == page);
            words.map(|word| word.text.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(
            texts(1),
            [
                "Summary",
                "To",
                "the",
                "end",
                "and",
                "out.",
                "What",
                "Price",
                "Item",
                "1",
                "1.00",
                "Half",
                "transparent."
            ]
        );
        assert_eq!(texts(2)[..4], ["End", "Thanks.", "To", "the"]);
        // From 33.75 to 115.8 of 841.9 points across, and with its baseline at about 56 of 595 points.
        let [left, top, width, height] = found[0].place;
        assert!(
            (400..403).contains(&left) && (970..980).contains(&width),
            "{:?}",
            found[0]
        );
        assert!(top < 941 && top + height > 941 && height < 500, "{:?}", found[0]);
        assert_eq!(words(LETTER, 1, 3).expect("words").len(), 3);
        assert_eq!(words(LETTER, 0, 3), Ok(Vec::new()));
    }
}
