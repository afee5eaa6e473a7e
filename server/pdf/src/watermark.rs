//! Draws a word across pages. Its letters are strokes, so no font is needed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;

use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::overlay::{Artifact, Overlay};
use crate::page_tree::media_box;
use crate::{PdfError, Watermark};

/// Height of a letter. Its width, the gaps and the thickness of lines are in the same units.
const HEIGHT: f64 = 7.0;
const GAP: f64 = 2.2;
const THICKNESS: f64 = 1.1;
/// Largest share of the page's width and height that the word takes.
const SHARE: f64 = 0.85;
/// Visible on white and on black, without obscuring text on either.
const GREY: f64 = 0.5;
const OPACITY: f64 = 0.25;

/// A letter on the baseline, from 0 to its width.
struct Letter {
    width: f64,
    path: &'static str,
}

const fn letter(width: f64, path: &'static str) -> Letter {
    Letter { width, path }
}

const E: Letter = letter(4.0, "4 7 m 0 7 l 0 0 l 4 0 l 0 3.6 m 3.4 3.6 l");
const I: Letter = letter(0.0, "0 0 m 0 7 l");
const P: Letter = letter(
    4.4,
    "0 0 m 0 7 l 2.4 7 l 3.6 7 4.4 6.2 4.4 5.1 c 4.4 4 3.6 3.2 2.4 3.2 c 0 3.2 l",
);
const R: Letter = letter(
    4.6,
    "0 0 m 0 7 l 2.4 7 l 3.6 7 4.4 6.2 4.4 5.1 c 4.4 4 3.6 3.2 2.4 3.2 c 0 3.2 l 2.4 3.2 m 4.6 0 l",
);
const S: Letter = Letter {
    width: 4.4,
    path: "4.2 5.8 m 3.9 6.6 3.2 7 2.2 7 c .9 7 .1 6.3 .1 5.3 c .1 4.1 1.2 3.9 2.2 3.6 c 3.3 3.3 4.4 3 4.4 1.8 c \
           4.4 .7 3.5 0 2.2 0 c 1.1 0 .3 .5 0 1.4 c",
};
const T: Letter = letter(5.0, "0 7 m 5 7 l 2.5 7 m 2.5 0 l");
const V: Letter = letter(5.0, "0 7 m 2.5 0 l 5 7 l");
const W: Letter = letter(7.2, "0 7 m 1.8 0 l 3.6 7 l 5.4 0 l 7.2 7 l");

impl Watermark {
    /// Returns the word that is drawn.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Test => "TEST",
            Self::Preview => "PREVIEW",
        }
    }

    fn letters(self) -> &'static [Letter] {
        match self {
            Self::Test => &[T, E, S, T],
            Self::Preview => &[P, R, E, V, I, E, W],
        }
    }
}

/// Draws the watermark over pages. Pages with the same `/MediaBox` share one form.
pub(crate) fn draw_watermark<'a>(
    document: &mut Document<'a>,
    overlay: &mut Overlay<'a>,
    pages: &[ObjectNumber],
    watermark: Watermark,
) -> Result<(), PdfError> {
    let artifact = Artifact::new(
        document,
        "PlatenWatermark".into(),
        "/Type /Pagination /Subtype /Watermark",
    );
    let mut forms: BTreeMap<[u64; 4], ObjectNumber> = BTreeMap::new();
    for number in pages {
        let mut page = document.get_dictionary(*number, "expected a page")?;
        let corners = media_box(&page).ok_or_else(|| document.damaged(*number, "expected a /MediaBox"))?;
        let form = match forms.entry(corners.map(f64::to_bits)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => *entry.insert(document.add(Object::Stream(form(watermark, corners)))),
        };
        overlay.draw(document, (*number, &mut page), &artifact, form)?;
        document.set(*number, Object::Dictionary(page));
    }
    Ok(())
}

/// Returns the word along the diagonal of a page, as a form `XObject` (ISO 32000-1, 8.10). `corners` are in points.
fn form(watermark: Watermark, corners: [f64; 4]) -> Stream<'static> {
    let pale = Dictionary::new([("CA", Object::Real(OPACITY))]);
    let states = Dictionary::new([("Pale", Object::Dictionary(pale))]);
    let resources = Dictionary::new([("ExtGState", Object::Dictionary(states))]);
    let dictionary = Dictionary::new([
        ("Type", Object::name("XObject")),
        ("Subtype", Object::name("Form")),
        ("BBox", corners.map(Object::Real).into_iter().collect()),
        ("Resources", Object::Dictionary(resources)),
    ]);
    Stream::plain(dictionary, content(watermark.letters(), corners).into_bytes())
}

fn content(letters: &[Letter], [left, bottom, right, top]: [f64; 4]) -> String {
    let (page_width, page_height) = (right - left, top - bottom);
    let advances: f64 = letters.iter().map(|letter| letter.width + GAP).sum();
    let length = advances - GAP;
    let (sine, cosine) = page_height.atan2(page_width).sin_cos();
    // Width and height of the rotated word, including the thickness of its lines, before scaling.
    let (long, short) = (length + THICKNESS, HEIGHT + THICKNESS);
    let (width, height) = (long * cosine + short * sine, long * sine + short * cosine);
    let scale = SHARE * (page_width / width).min(page_height / height);
    let (sine, cosine) = (scale * sine, scale * cosine);
    let (half_length, half_height) = (length / 2.0, HEIGHT / 2.0);
    let x = f64::midpoint(left, right) - half_length * cosine + half_height * sine;
    let y = f64::midpoint(bottom, top) - half_length * sine - half_height * cosine;
    // Round caps and joins: mitered ones would extend beyond the height of the letters.
    let mut content = format!(
        "/Pale gs {GREY} G {THICKNESS} w 1 J 1 j {cosine:.4} {sine:.4} {:.4} {cosine:.4} {x:.4} {y:.4} cm\n",
        -sine
    );
    for letter in letters {
        // Writing to memory does not fail.
        let _ = writeln!(content, "{} S 1 0 0 1 {:.1} 0 cm", letter.path, letter.width + GAP);
    }
    content
}
