//! Appearance of a page: images by two rasterizers, and text.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
};

use platen_pdf::raster::{PageView, rasterise};

use super::tools;

/// Number of pages of a document that are compared.
const FIRST: usize = 10;
/// Resolution of the images. Coarse, but a stroke that moves by a tenth of a pixel changes a shade.
const DOTS_PER_INCH: u16 = 40;
/// Pages with characters that no font has. A substitute font draws them: the same boxes, whose edges may have another
/// shade.
const MISSING_GLYPHS: [&str; 6] = [
    "invisible-characters.html",
    "missing-glyph-names.html",
    "missing-glyph.html",
    "price-list-cyrillic-greek.html",
    "scripts.html",
    "title-odd.html",
];
/// Share of an image's bytes that may differ in those pages.
const MAX_SHARE_OF_OTHER_SHADES: f64 = 0.004;

/// Appearance of a page.
pub(super) struct PageLook {
    /// Image by `hayro`.
    drawn: Vec<u8>,
    /// Image by Poppler, preceded by its size.
    painted: Vec<u8>,
    text: String,
}

/// Hashes of a [`PageLook`].
#[derive(Debug)]
pub(super) struct Fingerprint {
    drawn: u64,
    painted: u64,
    text: u64,
}

/// Returns the numbers of the pages to compare in a document of `count` pages.
pub(super) fn first_pages(count: usize) -> Vec<usize> {
    (1..=count.min(FIRST)).collect()
}

/// Returns the appearance of the given pages, which must be ascending. `pdf` is the content of `file`.
pub(super) fn of(file: &Path, pdf: &[u8], pages: &[usize]) -> Vec<PageLook> {
    let resolution = DOTS_PER_INCH.to_string();
    let last = pages.last().expect("a page").to_string();
    let painted = tools::output("pdftoppm", &["-r", &resolution, "-l", &last], file, &[]);
    let painted = pictures(&painted);
    let text = tools::output("pdftotext", &["-l", &last], file, &["-"]);
    let text = String::from_utf8_lossy(&text);
    // Each page ends with a form feed.
    let page_texts: Vec<&str> = text.split('\u{c}').collect();
    let look = |page: &usize| {
        let view = PageView {
            page: *page,
            dots_per_inch: DOTS_PER_INCH,
        };
        let picture = rasterise(pdf, view).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        PageLook {
            drawn: picture.pixels,
            painted: painted[page - 1].to_owned(),
            text: page_texts[page - 1].to_owned(),
        }
    };
    pages.iter().map(look).collect()
}

/// Splits a sequence of images, each with "P6", width, height and depth on three lines, then three bytes per pixel.
fn pictures(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut pictures = Vec::new();
    while !rest.is_empty() {
        let mut lines = rest.splitn(4, |byte| *byte == b'\n');
        assert_eq!(lines.next(), Some(b"P6".as_slice()));
        let size = str::from_utf8(lines.next().unwrap()).unwrap();
        let number = |text: &str| text.parse::<usize>().unwrap();
        let (width, height) = size
            .split_once(' ')
            .map(|(width, height)| (number(width), number(height)))
            .unwrap();
        let header = rest.len() - lines.nth(1).unwrap().len();
        let (picture, others) = rest.split_at(header + width * height * 3);
        pictures.push(picture);
        rest = others;
    }
    pictures
}

impl PageLook {
    /// Returns the differences of `other`, one sentence each. `name` is the page's name in the corpus.
    pub(super) fn differences(&self, other: &Self, name: &str) -> Vec<String> {
        let is_missing_glyphs = MISSING_GLYPHS.contains(&name);
        let pictures = [
            ("hayro", &self.drawn, &other.drawn),
            ("Poppler", &self.painted, &other.painted),
        ];
        let mut differences = Vec::new();
        for (rasteriser, before, after) in pictures {
            let changed = before
                .iter()
                .zip(after)
                .filter(|(before, after)| before != after)
                .count();
            let allowed = if is_missing_glyphs {
                MAX_SHARE_OF_OTHER_SHADES
            } else {
                0.0
            };
            if before.len() != after.len() {
                differences.push(format!("another size, by {rasteriser}"));
            } else if changed as f64 > allowed * before.len() as f64 {
                differences.push(format!("{changed} of {} bytes differ, by {rasteriser}", before.len()));
            }
        }
        let is_same_text = if is_missing_glyphs {
            letters(&self.text) == letters(&other.text)
        } else {
            readable(&self.text) == readable(&other.text)
        };
        if !is_same_text {
            differences.push(format!("the text is {:?}, not {:?}", other.text, self.text));
        }
        differences
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            drawn: hash(&self.drawn),
            painted: hash(&self.painted),
            text: hash(&self.text),
        }
    }
}

impl Fingerprint {
    /// Returns the differences of `other`.
    pub(super) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let compared = [
            ("other pixels by hayro", self.drawn == other.drawn),
            ("other pixels by Poppler", self.painted == other.painted),
            ("other text", self.text == other.text),
        ];
        let different = compared.iter().filter(|(_, is_same)| !is_same);
        different.map(|(what, _)| *what).collect()
    }
}

/// Removes characters without meaning: private use and NUL, which PDF/A files replace by U+FFFD and U+200B.
fn readable(text: &str) -> String {
    let is_text = |character: &char| !matches!(character, '\0' | '\u{200B}' | '\u{FFFD}' | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..);
    text.chars().filter(is_text).collect()
}

/// Returns the letters and digits of a text, sorted. The substitute font yields U+FFFD where the browser yields
/// nothing, and Poppler orders text by its surroundings, so neither other characters nor order can be compared.
fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|letter| letter.is_alphanumeric()).collect();
    letters.sort_unstable();
    letters
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
