//! Warns of images that are printed so large that their pixels show. Patterns are ignored, because the browser itself
//! renders shadings into images of 72 pixels per inch for them.

use std::collections::BTreeSet;

use super::warnings::Warnings;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_name};
use crate::matrix::Matrix;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::parse_number;

/// Pixels per inch of paper below which they are visible.
const COARSE: f64 = 100.0;
/// Images with fewer pixels on a side are stretched on purpose, as a colour or a gradient.
const MIN_SIDE: i64 = 8;
/// Size of the icon that Chromium draws for an image that it can't display.
const BROKEN_IMAGE_ICON: (i64, i64) = (14, 16);
/// Nesting of form `XObject`s up to which they are scanned.
const MAX_DEPTH: usize = 16;
/// Bytes of content that are scanned per document, because a form can be drawn any number of times. The cost of a
/// stream is a little more than its length, so that empty ones count as well.
const MAX_CONTENT: usize = 64 * 1024 * 1024;
const STREAM_COST: usize = 1024;
const POINTS_PER_INCH: f64 = 72.0;

/// Warns of each image whose pixels show where it is first drawn. Only pages that use new objects are scanned.
pub(super) fn warn_of_coarse_pictures(document: &Document, pages: &[ObjectNumber], warnings: &mut Warnings) {
    let mut search = Search {
        document,
        warnings,
        used: BTreeSet::new(),
        drawn: BTreeSet::new(),
        content_left: MAX_CONTENT,
    };
    for (page, number) in (1..).zip(pages) {
        search.look_at_page(page, *number);
    }
}

struct Search<'d, 'a> {
    document: &'d Document<'a>,
    warnings: &'d mut Warnings,
    /// External objects in the resources of scanned pages.
    used: BTreeSet<ObjectNumber>,
    /// Images whose resolution was measured.
    drawn: BTreeSet<ObjectNumber>,
    content_left: usize,
}

/// Context in which a content stream is drawn.
struct Surroundings<'r, 'a> {
    page: usize,
    resources: &'r Dictionary<'a>,
    matrix: Matrix,
    depth: usize,
}

impl<'a> Search<'_, 'a> {
    /// Scans a page. Ignores anything that can't be read.
    fn look_at_page(&mut self, page: usize, number: ObjectNumber) {
        let Ok(dictionary) = self.document.get_dictionary(number, "expected a page") else {
            return;
        };
        let Ok(resources) = self.document.resolve_dictionary(&dictionary, "Resources") else {
            return;
        };
        if !self.uses_something_new(&resources) {
            return;
        }
        let surroundings = Surroundings {
            page,
            resources: &resources,
            matrix: Matrix::IDENTITY,
            depth: 0,
        };
        let mut content = Vec::new();
        let mut part = Vec::new();
        for contents in dictionary.items("Contents") {
            if let Ok(Object::Stream(stream)) = self.document.resolve(contents)
                && StreamReader::default().read(&stream, &mut part).is_ok()
            {
                content.append(&mut part);
                content.push(b'\n');
            }
        }
        self.look_at_content(&content, &surroundings);
    }

    fn uses_something_new(&mut self, resources: &Dictionary) -> bool {
        let objects = self
            .document
            .resolve_dictionary(resources, "XObject")
            .unwrap_or_default();
        let numbers = objects.entries.iter().filter_map(|(_, object)| object.as_reference());
        let count = self.used.len();
        self.used.extend(numbers);
        self.used.len() > count
    }

    fn look_at_content(&mut self, content: &[u8], surroundings: &Surroundings<'_, 'a>) {
        let cost = content.len() + STREAM_COST;
        if surroundings.depth > MAX_DEPTH || self.content_left < cost {
            return;
        }
        self.content_left -= cost;
        let mut lexer = Lexer::new(content, 0);
        let mut matrix = surroundings.matrix;
        let mut saved = Vec::new();
        let mut numbers = Vec::new();
        let mut name = None;
        while let Ok(Some((_, token))) = lexer.next_token() {
            match token {
                Token::Number(raw) => numbers.extend(parse_number(raw).as_ref().and_then(Object::as_number)),
                Token::Name(raw) => name = Some(raw),
                Token::Keyword(operator) => {
                    match (operator, name) {
                        (b"q", _) => saved.push(matrix),
                        (b"Q", _) => matrix = saved.pop().unwrap_or(matrix),
                        (b"cm", _) => matrix = Matrix::of(&numbers).map_or(matrix, |change| change.then(matrix)),
                        (b"Do", Some(name)) => self.look_at(name, matrix, surroundings),
                        // Inline images are too small to be printed large, and their data has no syntax.
                        (b"ID", _) => return,
                        _ => {}
                    }
                    numbers.clear();
                    name = None;
                }
                _ => {}
            }
        }
    }

    /// Scans an external object by its name in the resources: an image, or more content.
    fn look_at(&mut self, name: &[u8], matrix: Matrix, surroundings: &Surroundings<'_, 'a>) {
        let Ok(objects) = self.document.resolve_dictionary(surroundings.resources, "XObject") else {
            return;
        };
        let Some(number) = objects.get_bytes(&decode_name(name)).and_then(Object::as_reference) else {
            return;
        };
        let Ok(Object::Stream(stream)) = self.document.get(number) else {
            return;
        };
        if stream
            .dictionary
            .get("Subtype")
            .is_some_and(|kind| kind.is_name("Image"))
        {
            if self.drawn.insert(number) {
                self.judge(&stream.dictionary, matrix, surroundings.page);
            }
            return;
        }
        let mut content = Vec::new();
        let Ok(resources) = self.document.resolve_dictionary(&stream.dictionary, "Resources") else {
            return;
        };
        if StreamReader::default().read(&stream, &mut content).is_err() {
            return;
        }
        let numbers = stream.dictionary.items("Matrix").iter().filter_map(Object::as_number);
        let own = Matrix::of(&numbers.collect::<Vec<_>>()).unwrap_or(Matrix::IDENTITY);
        let inner = Surroundings {
            page: surroundings.page,
            resources: &resources,
            matrix: own.then(matrix),
            depth: surroundings.depth + 1,
        };
        self.look_at_content(&content, &inner);
    }

    /// Measures the resolution of an image, which fills the unit square of the space that it is drawn in (ISO 32000-1,
    /// 8.9.5).
    fn judge(&mut self, picture: &Dictionary, matrix: Matrix, page: usize) {
        let side = |key| picture.get(key).and_then(Object::as_integer).unwrap_or(0);
        let (width, height) = (side("Width"), side("Height"));
        let [across, up] = matrix.unit_lengths();
        let resolution = |pixels: i64, points: f64| pixels as f64 * POINTS_PER_INCH / points;
        let coarsest = resolution(width, across).min(resolution(height, up));
        if width.min(height) >= MIN_SIDE && (width, height) != BROKEN_IMAGE_ICON && coarsest < COARSE {
            let message = format!(
                "An image of {width} × {height} pixels is printed at {:.0} pixels per inch on page {page}; \
                 below {COARSE} they show.",
                coarsest.floor()
            );
            self.warnings.add("image_low_resolution", message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Stream;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    /// Returns the warnings for a page with this content. `/P` is an image of 100 × 50 pixels, `/F` a form that draws
    /// it at twice the size.
    fn warnings(content: &'static str) -> Vec<String> {
        let mut document = Document::open(&[EMPTY]).expect("a document");
        let picture = Dictionary::new([
            ("Subtype", Object::name("Image")),
            ("Width", Object::Integer(100)),
            ("Height", Object::Integer(50)),
        ]);
        let picture = document.add(Object::Stream(Stream::plain(picture, b"".as_slice())));
        let resources = |objects| Object::Dictionary(Dictionary::new([("XObject", Object::Dictionary(objects))]));
        let form = Dictionary::new([
            ("Subtype", Object::name("Form")),
            (
                "Matrix",
                Object::Array([2, 0, 0, 2, 0, 0].map(Object::Integer).to_vec()),
            ),
            (
                "Resources",
                resources(Dictionary::new([("P", Object::Reference(picture))])),
            ),
        ]);
        let form = document.add(Object::Stream(Stream::plain(form, b"/P Do".as_slice())));
        let objects = Dictionary::new([("P", Object::Reference(picture)), ("F", Object::Reference(form))]);
        let contents = Stream::plain(Dictionary::default(), content.as_bytes());
        let contents = document.add(Object::Stream(contents));
        let page = document.add(Object::Dictionary(Dictionary::new([
            ("Resources", resources(objects)),
            ("Contents", Object::Reference(contents)),
        ])));
        let mut warnings = Warnings::default();
        warn_of_coarse_pictures(&document, &[page], &mut warnings);
        warnings.finish().into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn tells_the_resolution_in_which_a_picture_is_drawn() {
        // 72 points are an inch: 100 pixels on 100 points, and 50 on 25.
        let coarse = "An image of 100 × 50 pixels is printed at 72 pixels per inch on page 1; below 100 they show.";
        for content in [
            "100 0 0 25 0 0 cm /P Do",
            "q 9 0 0 9 0 0 cm Q 10 0 0 5 7 7 cm q 0 10 -5 0 1 1 cm /P Do Q",
            "50 0 0 12.5 0 0 cm /F Do",
            "100 0 0 25 0 0 cm /P Do 9 0 0 9 0 0 cm /P Do",
        ] {
            assert_eq!(warnings(content), [coarse], "{content}");
        }
    }

    #[test]
    fn sufficient_resolution_causes_no_warning() {
        for content in [
            "72 0 0 36 0 0 cm /P Do",
            "36 0 0 18 0 0 cm /F Do",
            "400 0 0 400 0 0 cm (/P Do) Tj /Q Do /P scn /P",
            "BI /W 1 ID 400 0 0 400 0 0 cm /P Do EI",
        ] {
            assert_eq!(warnings(content), Vec::<String>::new(), "{content}");
        }
    }
}
