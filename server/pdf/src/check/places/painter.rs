//! Follows the content of a page and notes where marked content, and content without marks, is painted.

use std::collections::{BTreeMap, BTreeSet};

use super::MAX_RUNS;
use super::area::{Area, Spot};
use super::fonts::Fonts;
use crate::PdfError;
use crate::check::marks::Properties;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::matrix::Matrix;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::parse_number;

/// Nesting of forms up to which they are followed.
const MAX_DEPTH: usize = 16;

/// Places on one page.
#[derive(Default)]
pub(super) struct PagePlaces {
    /// Marked content by the page or form that contains it, and its identifier.
    pub(super) contents: BTreeMap<(ObjectNumber, i64), Spot>,
    /// The first [`MAX_RUNS`] runs of text that is neither tagged nor an artifact.
    pub(super) untagged_texts: Vec<Spot>,
    /// The first runs of such graphics.
    pub(super) untagged_graphics: Vec<Spot>,
}

/// What is painted at the moment belongs to this.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nothing,
    Artifact,
    Content(ObjectNumber, i64),
}

/// What was painted last without a mark, so that a run of it is one place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    None,
    Text,
    Graphics,
}

/// Graphics state as far as it determines places (ISO 32000-1, 8.4).
#[derive(Clone, Copy)]
struct State {
    matrix: Matrix,
    font: ObjectNumber,
    font_size: f64,
}

pub(super) struct Painter<'d, 'a> {
    pub(super) document: &'d Document<'a>,
    pub(super) fonts: &'d mut Fonts,
    pub(super) places: PagePlaces,
    run: Run,
    /// Forms that were followed, so that a form that is drawn often is followed once.
    seen: BTreeSet<ObjectNumber>,
}

impl<'d, 'a> Painter<'d, 'a> {
    pub(super) fn new(document: &'d Document<'a>, fonts: &'d mut Fonts) -> Self {
        Self {
            document,
            fonts,
            places: PagePlaces::default(),
            run: Run::None,
            seen: BTreeSet::new(),
        }
    }

    /// Follows the content of a page.
    pub(super) fn page(&mut self, number: ObjectNumber) -> Result<(), PdfError> {
        let page = self.document.get_dictionary(number, "expected a page")?;
        let contents = match page
            .get("Contents")
            .map(|contents| self.document.resolve(contents))
            .transpose()?
        {
            Some(Object::Array(parts)) => parts,
            Some(single) => vec![single],
            None => Vec::new(),
        };
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        for contents in &contents {
            if let Object::Stream(stream) = self.document.resolve(contents)?
                && StreamReader::default().read(&stream, &mut part).is_ok()
            {
                whole.extend_from_slice(&part);
                whole.push(b'\n');
            }
        }
        let resources = self.document.resolve_dictionary(&page, "Resources")?;
        self.stream(&whole, number, &resources, Matrix::IDENTITY, Owner::Nothing, 0)
    }

    fn form(&mut self, number: ObjectNumber, matrix: Matrix, owner: Owner, depth: usize) -> Result<(), PdfError> {
        let Object::Stream(form) = self.document.get(number)? else {
            return Ok(());
        };
        if !form.dictionary.get("Subtype").is_some_and(|kind| kind.is_name("Form")) {
            let unit = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
            let area = Area::of(unit.map(|(x, y)| matrix.apply(x, y)));
            self.paint(owner, area, &[], Run::Graphics);
            return Ok(());
        }
        let mut content = Vec::new();
        if depth == MAX_DEPTH || !self.seen.insert(number) || StreamReader::default().read(&form, &mut content).is_err()
        {
            return Ok(());
        }
        let numbers: Vec<f64> = form
            .dictionary
            .items("Matrix")
            .iter()
            .filter_map(Object::as_number)
            .collect();
        let own = Matrix::of(&numbers).unwrap_or(Matrix::IDENTITY);
        let resources = self.document.resolve_dictionary(&form.dictionary, "Resources")?;
        self.stream(&content, number, &resources, own.then(matrix), owner, depth + 1)
    }

    fn stream(
        &mut self,
        content: &[u8],
        stream: ObjectNumber,
        resources: &Dictionary<'a>,
        matrix: Matrix,
        owner: Owner,
        depth: usize,
    ) -> Result<(), PdfError> {
        let fonts = self.document.resolve_dictionary(resources, "Font")?;
        let objects = self.document.resolve_dictionary(resources, "XObject")?;
        let number_of = |dictionary: &Dictionary, name: &[u8]| {
            dictionary
                .get_bytes(&decode_name(name))
                .and_then(Object::as_reference)
                .unwrap_or_default()
        };
        let mut state = State {
            matrix,
            font: 0,
            font_size: 0.0,
        };
        let mut saved = Vec::new();
        let mut owners = vec![owner];
        let mut text_matrix = Matrix::IDENTITY;
        let mut path: Option<Area> = None;
        let mut operands = Operands::default();
        let mut lexer = Lexer::new(content, 0);
        while let Some((_, token)) = lexer.next_token()? {
            let Token::Keyword(operator) = token else {
                operands.add(token, lexer.position());
                continue;
            };
            let owner = owners.last().copied().unwrap_or(Owner::Nothing);
            let numbers = operands.numbers.as_slice();
            match operator {
                b"q" => saved.push(state),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => state.matrix = Matrix::of(numbers).map_or(state.matrix, |own| own.then(state.matrix)),
                b"Tf" => {
                    state.font = number_of(&fonts, operands.name);
                    state.font_size = numbers.last().copied().unwrap_or_default();
                }
                b"BT" => text_matrix = Matrix::IDENTITY,
                b"Tm" => text_matrix = Matrix::of(numbers).unwrap_or(text_matrix),
                b"Td" => {
                    if let [x, y] = *numbers {
                        let shift = Matrix::of(&[1.0, 0.0, 0.0, 1.0, x, y]).unwrap_or(Matrix::IDENTITY);
                        text_matrix = shift.then(text_matrix);
                    }
                }
                b"Tj" | b"TJ" => self.show(owner, state, text_matrix, &operands),
                b"m" | b"l" | b"c" | b"v" | b"y" => {
                    for point in numbers.as_chunks().0 {
                        let [x, y]: [f64; 2] = *point;
                        path = Area::join(path, Area::of([state.matrix.apply(x, y)]));
                    }
                }
                b"re" => {
                    if let [x, y, width, height] = *numbers {
                        let corners = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)];
                        path = Area::join(path, Area::of(corners.map(|(x, y)| state.matrix.apply(x, y))));
                    }
                }
                b"S" | b"s" | b"f" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => {
                    self.paint(owner, path.take(), &[], Run::Graphics);
                }
                b"n" => path = None,
                b"Do" => self.form(number_of(&objects, operands.name), state.matrix, owner, depth)?,
                b"BMC" | b"BDC" => {
                    let entries = content.get(operands.properties.clone()).unwrap_or_default();
                    owners.push(match (operands.name, Properties::read(entries).identifier) {
                        (_, Some(identifier)) => Owner::Content(stream, identifier),
                        (b"Artifact", None) => Owner::Artifact,
                        _ => owner,
                    });
                }
                b"EMC" if owners.len() > 1 => drop(owners.pop()),
                _ => {}
            }
            operands = Operands::default();
        }
        Ok(())
    }

    /// Notes the place of a string, which begins at the origin of the text matrix.
    fn show(&mut self, owner: Owner, state: State, text_matrix: Matrix, operands: &Operands) {
        let font = self.fonts.get(self.document, state.font);
        let mut text = Vec::new();
        let mut length = 0.0;
        for string in &operands.strings {
            length += font.show(string, &mut text);
        }
        // Adjustments of `TJ` are small and are ignored.
        let size = state.font_size;
        let (right, bottom, top) = (length * size, font.descent * size, font.ascent * size);
        let corners = [(0.0, bottom), (0.0, top), (right, bottom), (right, top)];
        let matrix = text_matrix.then(state.matrix);
        let area = Area::of(corners.map(|(x, y)| matrix.apply(x, y)));
        self.paint(owner, area, &text, Run::Text);
    }

    fn paint(&mut self, owner: Owner, area: Option<Area>, text: &[u16], run: Run) {
        let spot = match owner {
            Owner::Artifact => return self.run = Run::None,
            Owner::Content(stream, identifier) => {
                self.run = Run::None;
                self.places.contents.entry((stream, identifier)).or_default()
            }
            Owner::Nothing => {
                let runs = match run {
                    Run::Text => &mut self.places.untagged_texts,
                    _ => &mut self.places.untagged_graphics,
                };
                if self.run != run || runs.is_empty() {
                    if runs.len() == MAX_RUNS {
                        return self.run = Run::None;
                    }
                    runs.push(Spot::default());
                }
                self.run = run;
                let Some(spot) = runs.last_mut() else { return };
                spot
            }
        };
        spot.add(area, text);
    }
}

/// Operands before an operator.
#[derive(Default)]
struct Operands<'c> {
    numbers: Vec<f64>,
    /// The last name outside of a dictionary.
    name: &'c [u8],
    strings: Vec<Vec<u8>>,
    /// Range of the entries of a dictionary.
    properties: std::ops::Range<usize>,
    depth: usize,
}

impl<'c> Operands<'c> {
    /// Adds a token, which ends at `end`.
    fn add(&mut self, token: Token<'c>, end: usize) {
        match token {
            Token::DictionaryStart => {
                if self.depth == 0 {
                    self.properties.start = end;
                }
                self.depth += 1;
            }
            Token::DictionaryEnd => {
                self.depth = self.depth.saturating_sub(1);
                self.properties.end = end - b">>".len();
            }
            _ if self.depth > 0 => {}
            Token::Number(raw) => self
                .numbers
                .extend(parse_number(raw).and_then(|number| number.as_number())),
            Token::Name(name) => self.name = name,
            Token::LiteralString(raw) => self.strings.push(decode_literal_string(raw).into_owned()),
            Token::HexString(raw) => self.strings.push(decode_hex_string(raw)),
            Token::ArrayStart | Token::ArrayEnd | Token::Keyword(_) => {}
        }
    }
}
