//! Follows the content of a page and determines where marked content, and content without marks, is painted, and in
//! which colour.

use std::collections::BTreeSet;

use super::area::Area;
use super::fonts::{Font, Fonts};
use super::path::{Outline, Path};
use crate::PdfError;
use crate::check::marks::Properties;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_literal_string, decode_name, hex_bytes};
use crate::matrix::Matrix;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::parse_number;

/// Nesting of forms up to which they are followed.
const MAX_DEPTH: usize = 16;

/// What painted content belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Nothing,
    Artifact,
    /// Marked content by the page or form that contains it, and its identifier.
    Content(ObjectNumber, i64),
}

/// A text object of a content stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextObject {
    /// The page or form.
    pub(crate) owner: ObjectNumber,
    /// The content stream: that form, or one of the page.
    pub(crate) stream: ObjectNumber,
    /// Offset of `BT`.
    pub(crate) start: usize,
}

/// Text that is painted by one operator.
pub(crate) struct ShownText<'t> {
    document: &'t Document<'t>,
    font: &'t Font,
    /// Character codes of the font.
    codes: &'t [u8],
    font_size: f64,
    /// From text space to the page.
    matrix: Matrix,
    pub(crate) text_object: TextObject,
    /// Height of its baseline on the page; `None` if that isn't horizontal.
    pub(crate) baseline: Option<f64>,
}

impl ShownText<'_> {
    /// Returns the text in UTF-16.
    pub(crate) fn characters(&self) -> Vec<u16> {
        self.font.characters(self.document, self.codes)
    }

    /// Returns the font size on the page, in points.
    pub(crate) fn size(&self) -> f64 {
        self.font_size.abs() * self.matrix.unit_lengths()[1]
    }
}

/// A colour of sRGB: red, green, blue.
pub(crate) type Colour = [u8; 3];

/// What is painted by one operator.
pub(crate) struct Painted<'p> {
    pub(crate) owner: Owner,
    /// `None` if a coordinate is not finite.
    pub(crate) area: Option<Area>,
    /// `None` for graphics.
    pub(crate) text: Option<ShownText<'p>>,
    /// Shape of graphics.
    pub(crate) shape: Shape<'p>,
    pub(crate) clip: Clip,
    /// The only colour; `None` for pictures, patterns, outlines of glyphs, and anything that is blended otherwise than by
    /// its opacity.
    pub(crate) colour: Option<Colour>,
    /// From 0 to 1.
    pub(crate) opacity: f64,
}

/// The part of the page that is painted.
#[derive(Clone, Copy)]
pub(crate) struct Clip {
    /// The rectangle around it; `None` for the whole page.
    pub(crate) area: Option<Area>,
    /// Whether it is that rectangle.
    pub(crate) is_rectangle: bool,
}

/// Shape of what is painted.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'p> {
    /// The outlines of a filled path; empty if it has too many or too long ones.
    Filled(&'p [Outline]),
    /// Lines of at most this width, in points.
    Lines(f64),
    /// Text or a picture.
    Other,
    /// A form that is not followed, mostly because it was before on this page. Its area is that of its box.
    Repeated,
}

/// Receives what is painted on a page, in order.
pub(crate) trait Canvas {
    fn paint(&mut self, painted: Painted);

    /// Returns whether the canvas needs text with this owner, colour and opacity. Its area and characters aren't known yet.
    fn needs_text(&mut self, _: &Painted) -> bool {
        true
    }
}

/// Graphics state as far as it determines places and colours (ISO 32000-1, 8.4).
#[derive(Clone, Copy)]
struct State {
    matrix: Matrix,
    font: ObjectNumber,
    font_size: f64,
    /// `None` for a pattern.
    fill: Option<Colour>,
    opacity: f64,
    is_blended: bool,
    is_masked: bool,
    /// Whether glyphs are filled, and not outlined or hidden.
    fills_glyphs: bool,
    line_width: f64,
    clip: Clip,
}

/// The initial colour.
pub(in crate::check) const BLACK: Colour = [0; 3];

/// Where a content stream is painted.
#[derive(Clone, Copy)]
struct Place {
    stream: ObjectNumber,
    /// The page or form whose marked content it contains.
    marks: ObjectNumber,
    matrix: Matrix,
    owner: Owner,
    /// Number of forms around it.
    depth: usize,
    /// Clip of the content around it.
    clip: Clip,
    /// Whether the content around it is blended, masked or transparent as a whole.
    is_blended: bool,
}

/// Follows the content of pages.
pub(crate) struct Painter<'d, 'a, C> {
    document: &'d Document<'a>,
    fonts: &'d mut Fonts,
    canvas: &'d mut C,
    /// Forms that were followed, so that a form that is drawn often is followed once.
    seen: BTreeSet<ObjectNumber>,
    /// Character codes of the text that is painted, for which memory is allocated once.
    codes: Vec<u8>,
    /// Bytes of content that were read.
    pub(crate) bytes: usize,
}

impl<'d, 'a, C: Canvas> Painter<'d, 'a, C> {
    pub(crate) fn new(document: &'d Document<'a>, fonts: &'d mut Fonts, canvas: &'d mut C) -> Self {
        Self {
            document,
            fonts,
            canvas,
            seen: BTreeSet::new(),
            codes: Vec::new(),
            bytes: 0,
        }
    }

    /// Follows the content streams of a page. Each of them is complete by itself, as Chromium and Platen write them.
    pub(crate) fn page(&mut self, number: ObjectNumber) -> Result<(), PdfError> {
        let page = self.document.get_dictionary(number, "expected a page")?;
        let resources = self.document.resolve_dictionary(&page, "Resources")?;
        let mut content = Vec::new();
        for contents in page.items("Contents").iter().filter_map(Object::as_reference) {
            if let Object::Stream(stream) = self.document.get(contents)?
                && StreamReader::default().read(&stream, &mut content).is_ok()
            {
                let place = Place {
                    stream: contents,
                    marks: number,
                    matrix: Matrix::IDENTITY,
                    owner: Owner::Nothing,
                    depth: 0,
                    clip: Clip {
                        area: None,
                        is_rectangle: true,
                    },
                    is_blended: false,
                };
                self.stream(&content, &resources, place)?;
            }
        }
        Ok(())
    }

    fn form(&mut self, number: ObjectNumber, state: State, owner: Owner, depth: usize) -> Result<(), PdfError> {
        let Object::Stream(form) = self.document.get(number)? else {
            return Ok(());
        };
        if !form.dictionary.get("Subtype").is_some_and(|kind| kind.is_name("Form")) {
            let unit = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
            let area = Area::of(unit.map(|(x, y)| state.matrix.apply(x, y)));
            self.canvas.paint(Painted {
                colour: None,
                ..state.painted(owner, area)
            });
            return Ok(());
        }
        let numbers = |key| -> Vec<f64> {
            let items = form.dictionary.items(key).iter();
            items.filter_map(Object::as_number).collect()
        };
        let matrix = Matrix::of(&numbers("Matrix"))
            .unwrap_or(Matrix::IDENTITY)
            .then(state.matrix);
        let mut content = Vec::new();
        if depth == MAX_DEPTH || !self.seen.insert(number) || StreamReader::default().read(&form, &mut content).is_err()
        {
            let area = match numbers("BBox")[..] {
                [left, bottom, right, top] => {
                    let corners = [(left, bottom), (right, bottom), (left, top), (right, top)];
                    Area::of(corners.map(|(x, y)| matrix.apply(x, y)))
                }
                _ => None,
            };
            self.canvas.paint(Painted {
                shape: Shape::Repeated,
                colour: None,
                ..state.painted(owner, area)
            });
            return Ok(());
        }
        let resources = self.document.resolve_dictionary(&form.dictionary, "Resources")?;
        let place = Place {
            stream: number,
            marks: number,
            matrix,
            owner,
            depth: depth + 1,
            clip: state.clip,
            is_blended: state.is_blended || state.is_masked || state.opacity < 1.0,
        };
        self.stream(&content, &resources, place)
    }

    fn stream(&mut self, content: &[u8], resources: &Dictionary<'a>, place: Place) -> Result<(), PdfError> {
        let fonts = self.document.resolve_dictionary(resources, "Font")?;
        let objects = self.document.resolve_dictionary(resources, "XObject")?;
        let graphics_states = self.document.resolve_dictionary(resources, "ExtGState")?;
        self.bytes += content.len();
        let number_of = |dictionary: &Dictionary, name: &[u8]| {
            dictionary
                .get_bytes(&decode_name(name))
                .and_then(Object::as_reference)
                .unwrap_or_default()
        };
        let mut state = State {
            matrix: place.matrix,
            font: 0,
            font_size: 0.0,
            fill: Some(BLACK),
            opacity: 1.0,
            is_blended: place.is_blended,
            is_masked: false,
            fills_glyphs: true,
            line_width: 1.0,
            clip: place.clip,
        };
        let mut saved = Vec::new();
        let mut owners = vec![place.owner];
        let mut text_matrix = Matrix::IDENTITY;
        let mut text_object = TextObject {
            owner: place.marks,
            stream: place.stream,
            start: 0,
        };
        let mut path = Path::default();
        let mut clips = false;
        let mut operands = Operands::default();
        let mut lexer = Lexer::new(content, 0);
        while let Some((start, operator)) = operands.read(&mut lexer)? {
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
                b"BT" => {
                    text_matrix = Matrix::IDENTITY;
                    text_object.start = start;
                }
                b"Tm" => text_matrix = Matrix::of(numbers).unwrap_or(text_matrix),
                b"Td" => {
                    if let [x, y] = *numbers {
                        let shift = Matrix::of(&[1.0, 0.0, 0.0, 1.0, x, y]).unwrap_or(Matrix::IDENTITY);
                        text_matrix = shift.then(text_matrix);
                    }
                }
                b"Tj" | b"TJ" => {
                    let strings = content.get(operands.strings.clone()).unwrap_or_default();
                    self.show(owner, state, text_matrix, text_object, strings);
                }
                b"m" | b"l" | b"c" | b"v" | b"y" | b"re" => path.build(operator, numbers, state.matrix),
                b"W" | b"W*" => clips = true,
                b"S" | b"s" | b"f" | b"f*" | b"B" | b"B*" | b"b" | b"b*" | b"n" => {
                    if operator != b"n" {
                        self.canvas
                            .paint(state.painted_path(owner, &path, matches!(operator, b"S" | b"s")));
                    }
                    if std::mem::take(&mut clips) {
                        state.clip = Clip {
                            area: Some(path.area().unwrap_or_default().within(state.clip.area)),
                            is_rectangle: state.clip.is_rectangle && path.is_rectangle(),
                        };
                    }
                    path.clear();
                }
                b"gs" => {
                    let number = number_of(&graphics_states, operands.name);
                    let entries = self.document.get_dictionary(number, "expected a graphics state");
                    state.apply(&entries.unwrap_or_default(), place.is_blended);
                }
                b"Do" => self.form(number_of(&objects, operands.name), state, owner, place.depth)?,
                b"BMC" | b"BDC" => {
                    let entries = content.get(operands.properties.clone()).unwrap_or_default();
                    owners.push(match (operands.name, Properties::read(entries).identifier) {
                        (_, Some(identifier)) => Owner::Content(place.marks, identifier),
                        (b"Artifact", None) => Owner::Artifact,
                        _ => owner,
                    });
                }
                b"EMC" if owners.len() > 1 => drop(owners.pop()),
                _ => state.set(operator, &operands),
            }
            operands.clear();
        }
        Ok(())
    }

    /// Paints strings, the first of which begins at the origin of the text matrix.
    fn show(&mut self, owner: Owner, state: State, text_matrix: Matrix, text_object: TextObject, strings: &[u8]) {
        let painted = state.painted(owner, None);
        if !self.canvas.needs_text(&painted) {
            return;
        }
        self.codes.clear();
        let mut lexer = Lexer::new(strings, 0);
        while let Ok(Some((_, string))) = lexer.next_token() {
            match string {
                Token::LiteralString(raw) => self.codes.extend_from_slice(&decode_literal_string(raw)),
                Token::HexString(raw) => self.codes.extend(hex_bytes(raw)),
                _ => {}
            }
        }
        let font = self.fonts.get(self.document, state.font);
        let length = font.width(&self.codes);
        // Adjustments of `TJ` are small and are ignored.
        let size = state.font_size;
        let (right, bottom, top) = (length * size, font.descent * size, font.ascent * size);
        let corners = [(0.0, bottom), (0.0, top), (right, bottom), (right, top)];
        let matrix = text_matrix.then(state.matrix);
        let area = Area::of(corners.map(|(x, y)| matrix.apply(x, y)));
        let text = ShownText {
            document: self.document,
            font,
            codes: &self.codes,
            font_size: size,
            matrix,
            text_object,
            baseline: Some(matrix.apply(0.0, 0.0).1).filter(|_| matrix.is_upright()),
        };
        self.canvas.paint(Painted {
            text: Some(text),
            area,
            colour: painted.colour.filter(|_| state.fills_glyphs && font.has_outlines()),
            ..painted
        });
    }
}

impl State {
    /// Returns what is painted in the fill colour, without its shape.
    fn painted(&self, owner: Owner, area: Option<Area>) -> Painted<'static> {
        Painted {
            owner,
            area,
            text: None,
            shape: Shape::Other,
            clip: self.clip,
            colour: self.fill.filter(|_| !self.is_blended && !self.is_masked),
            opacity: self.opacity,
        }
    }

    /// Returns a path that is painted.
    fn painted_path<'p>(&self, owner: Owner, path: &'p Path, has_lines_only: bool) -> Painted<'p> {
        let shape = if has_lines_only {
            Shape::Lines(self.line_width * self.matrix.unit_lengths()[0])
        } else {
            Shape::Filled(path.outlines())
        };
        Painted {
            shape,
            ..self.painted(owner, path.area())
        }
    }

    /// Applies an operator that sets how something is painted.
    fn set(&mut self, operator: &[u8], operands: &Operands) {
        let numbers = operands.numbers.as_slice();
        match operator {
            b"g" | b"rg" | b"sc" | b"scn" => self.fill = colour(numbers).filter(|_| operands.name.is_empty()),
            b"cs" => self.fill = Some(BLACK).filter(|_| operands.name != b"Pattern"),
            b"Tr" => self.fills_glyphs = matches!(numbers, [0.0]),
            b"w" => self.line_width = numbers.last().copied().unwrap_or(1.0),
            _ => {}
        }
    }

    /// Applies entries of a graphics state parameter dictionary (ISO 32000-1, 8.4.5). `is_blended` is whether the content
    /// around is.
    fn apply(&mut self, entries: &Dictionary, is_blended: bool) {
        if let Some(mode) = entries.get("BM") {
            self.is_blended = is_blended || !mode.is_name("Normal");
        }
        if let Some(mask) = entries.get("SMask") {
            self.is_masked = !mask.is_name("None");
        }
        if let Some(opacity) = entries.get("ca").and_then(Object::as_number) {
            self.opacity = opacity;
        }
    }
}

/// Returns the colour of one or three numbers (ISO 32000-1, 8.6.8). `DeviceRGB` is sRGB, as the output intent says.
pub(in crate::check) fn colour(numbers: &[f64]) -> Option<Colour> {
    let component = |number: f64| (number.clamp(0.0, 1.0) * 255.0).round() as u8;
    match *numbers {
        [gray] => Some([component(gray); 3]),
        [red, green, blue] => Some([red, green, blue].map(component)),
        _ => None,
    }
}

/// Operands before an operator.
#[derive(Default)]
struct Operands<'c> {
    numbers: Vec<f64>,
    /// The last name outside of a dictionary.
    name: &'c [u8],
    /// Range from the first string to the end of the last.
    strings: std::ops::Range<usize>,
    /// Range of the entries of a dictionary.
    properties: std::ops::Range<usize>,
    depth: usize,
}

impl<'c> Operands<'c> {
    /// Reads up to the next operator, and returns that with its offset; `None` at the end.
    fn read(&mut self, lexer: &mut Lexer<'c>) -> Result<Option<(usize, &'c [u8])>, PdfError> {
        loop {
            while let Some(raw) = lexer.next_plain_number() {
                self.add_number(raw);
            }
            let start = lexer.position();
            let token = match lexer.next_plain_keyword() {
                Some(raw) => Token::Keyword(raw),
                None => match lexer.next_token()? {
                    Some((_, token)) => token,
                    None => return Ok(None),
                },
            };
            match token {
                Token::Keyword(operator) if self.depth == 0 => return Ok(Some((start, operator))),
                _ => self.add(token, start..lexer.position()),
            }
        }
    }

    fn add_number(&mut self, raw: &[u8]) {
        if self.depth == 0 {
            self.numbers
                .extend(parse_number(raw).and_then(|number| number.as_number()));
        }
    }

    /// Removes everything, except for its capacity.
    fn clear(&mut self) {
        self.numbers.clear();
        self.strings = 0..0;
        self.name = b"";
        self.properties = 0..0;
    }

    /// Adds a token, which is in this range, perhaps after white space.
    fn add(&mut self, token: Token<'c>, range: std::ops::Range<usize>) {
        match token {
            Token::DictionaryStart => {
                if self.depth == 0 {
                    self.properties.start = range.end;
                }
                self.depth += 1;
            }
            Token::DictionaryEnd => {
                self.depth = self.depth.saturating_sub(1);
                self.properties.end = range.end - b">>".len();
            }
            _ if self.depth > 0 => {}
            Token::Number(raw) => self.add_number(raw),
            Token::Name(name) => self.name = name,
            Token::LiteralString(_) | Token::HexString(_) => {
                if self.strings.is_empty() {
                    self.strings.start = range.start;
                }
                self.strings.end = range.end;
            }
            Token::ArrayStart | Token::ArrayEnd | Token::Keyword(_) => {}
        }
    }
}
