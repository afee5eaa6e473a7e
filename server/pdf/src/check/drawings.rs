//! All content streams: pages, forms, tiling patterns, glyphs of Type 3 fonts. Checks their operators and references,
//! and collects which codes of which font are shown.

use std::collections::BTreeMap;

use super::colours::{Colours, Fill};
use super::marks::StreamMarks;
use super::objects::Found;
use super::shown::{Shown, ShownFont};
use super::syntax::{SAFE_NUMBER, check_hex_string, check_literal_string, check_name, check_number};
use super::{Finding, Findings, dictionary};
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_literal_string, decode_name, hex_value};
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::parse::parse_number;

/// Greatest nesting of `q` (6.1.13).
const MAX_NESTING: usize = 28;

/// Checks every content stream, each up to its first violation.
pub(super) fn check_drawings(document: &Document, found: &Found) -> (Shown, Findings) {
    let mut findings = Findings::default();
    let fonts = |numbers: &[ObjectNumber], new: fn() -> ShownFont| numbers.iter().map(|font| (*font, new())).collect();
    let mut shown = Shown {
        composite: fonts(&found.composite_fonts, ShownFont::composite),
        type_3: fonts(&found.type_3_fonts, ShownFont::type_3),
        glyph_widths: BTreeMap::new(),
        marks: BTreeMap::new(),
        colours: BTreeMap::new(),
        drawings: found.drawings.iter().copied().collect(),
    };
    let mut check = Check {
        document,
        buffer: Buffer::default(),
        shown: &mut shown,
    };
    for number in &found.pages {
        findings.note(Some(*number), check.page(*number));
    }
    for number in &found.drawings {
        findings.note(Some(*number), check.drawing(*number));
    }
    for number in &found.type_3_fonts {
        findings.note(Some(*number), check.glyphs(*number));
    }
    (shown, findings)
}

struct Check<'d, 'a> {
    document: &'d Document<'a>,
    buffer: Buffer,
    shown: &'d mut Shown,
}

impl Check<'_, '_> {
    fn page(&mut self, number: ObjectNumber) -> Result<(), Finding> {
        let page = dictionary(self.document, number)?;
        let parts = match page
            .get("Contents")
            .map(|contents| self.document.resolve(contents))
            .transpose()
        {
            Ok(Some(Object::Array(parts))) => parts,
            Ok(Some(stream)) => vec![stream],
            Ok(None) => Vec::new(),
            Err(error) => return Err(Finding::new("6.2.2", error.to_string())),
        };
        let mut whole = Vec::new();
        let mut scan = Scan::new(self.document, &page, self.shown)?;
        for part in &parts {
            if let Ok(Object::Stream(stream)) = self.document.resolve(part) {
                let content = self.buffer.read(&stream)?;
                if let [_] = parts[..] {
                    scan.run(content)?;
                    scan.finish(number);
                    return Ok(());
                }
                whole.extend_from_slice(content);
                whole.push(b'\n');
            }
        }
        scan.run(&whole)?;
        // Each stream begins with the initial colour.
        scan.colours.text(Fill::default());
        scan.colours.shape(Fill::default());
        scan.finish(number);
        Ok(())
    }

    fn drawing(&mut self, number: ObjectNumber) -> Result<(), Finding> {
        match self.document.get(number) {
            Ok(Object::Stream(stream)) => {
                let content = self.buffer.read(&stream)?;
                let mut scan = Scan::new(self.document, &stream.dictionary, self.shown)?;
                scan.marks.is_hidden = stream.dictionary.get("PatternType").is_some();
                scan.run(content)?;
                scan.finish(number);
                Ok(())
            }
            _ => Err(Finding::new("6.2.9", "expected a stream")),
        }
    }

    fn glyphs(&mut self, font_number: ObjectNumber) -> Result<(), Finding> {
        let font = dictionary(self.document, font_number)?;
        let procedures = self.document.resolve_dictionary(&font, "CharProcs").unwrap_or_default();
        let mut scan = Scan::new(self.document, &font, self.shown)?;
        scan.marks.is_hidden = true;
        for (_, procedure) in &procedures.entries {
            let number = procedure.as_reference().unwrap_or_default();
            if let Ok(Object::Stream(stream)) = self.document.get(number) {
                scan.run(self.buffer.read(&stream)?)?;
                scan.shown.glyph_widths.extend(scan.width.map(|width| (number, width)));
            }
        }
        scan.finish(font_number);
        Ok(())
    }
}

/// Returns whether a graphics state makes what is filled transparent.
fn is_transparent(document: &Document, state: &Object) -> bool {
    let state = document.resolve(state).ok();
    let opacity = state
        .as_ref()
        .and_then(|state| state.as_dictionary()?.get("ca")?.as_number());
    opacity.is_some_and(|opacity| opacity < 1.0)
}

/// Buffer that is reused for one content stream after the other.
#[derive(Default)]
struct Buffer {
    reader: StreamReader,
    content: Vec<u8>,
}

impl Buffer {
    fn read(&mut self, stream: &Stream) -> Result<&[u8], Finding> {
        match self.reader.read(stream, &mut self.content) {
            Ok(()) => Ok(&self.content),
            Err(what) => Err(Finding::new("6.1.7", format!("content: {what}"))),
        }
    }
}

/// The current font.
#[derive(Clone, Copy)]
enum Font {
    Composite(ObjectNumber),
    Type3(ObjectNumber),
}

/// Graphics state as far as it is followed (ISO 32000-1, 8.4).
#[derive(Clone, Copy, Default)]
struct State {
    font: Option<Font>,
    fill: Fill,
}

/// The first operands of an operator that are numbers: one more than a colour has.
#[derive(Default)]
struct Numbers<'c> {
    raw: [&'c [u8]; 4],
    count: usize,
}

impl<'c> Numbers<'c> {
    fn add(&mut self, raw: &'c [u8]) {
        if let Some(place) = self.raw.get_mut(self.count) {
            *place = raw;
            self.count += 1;
        }
    }

    fn as_slice(&self) -> &[&'c [u8]] {
        &self.raw[..self.count]
    }

    fn clear(&mut self) {
        self.count = 0;
    }
}

/// Checks streams with the same resources, one after the other.
struct Scan<'d, 'a, 's> {
    document: &'d Document<'a>,
    fonts: Dictionary<'a>,
    graphics_states: Dictionary<'a>,
    patterns: Dictionary<'a>,
    external_objects: Dictionary<'a>,
    shown: &'s mut Shown,
    marks: StreamMarks,
    colours: Colours,
    state: State,
    saved: Vec<State>,
    /// Width set by `d0` or `d1`, if the stream is that of a glyph.
    width: Option<f64>,
}

impl<'d, 'a, 's> Scan<'d, 'a, 's> {
    /// Uses the `/Resources` of a page, a form, a pattern or a font. None are inherited (6.2.2).
    fn new(document: &'d Document<'a>, owner: &Dictionary<'a>, shown: &'s mut Shown) -> Result<Self, Finding> {
        let resources = |owner: &Dictionary<'a>, key| {
            document
                .resolve_dictionary(owner, key)
                .map_err(|error| Finding::new("6.2.2", error.to_string()))
        };
        let own = resources(owner, "Resources")?;
        let graphics_states = resources(&own, "ExtGState")?;
        let colours = Colours {
            // Transparent colours are mixed with those below them.
            has_others: graphics_states
                .entries
                .iter()
                .any(|(_, state)| is_transparent(document, state)),
            ..Colours::default()
        };
        Ok(Self {
            document,
            fonts: resources(&own, "Font")?,
            graphics_states,
            patterns: resources(&own, "Pattern")?,
            external_objects: resources(&own, "XObject")?,
            shown,
            marks: StreamMarks::new(owner.get("StructParents").and_then(Object::as_integer)),
            colours,
            state: State::default(),
            saved: Vec::new(),
            width: None,
        })
    }

    fn run(&mut self, content: &[u8]) -> Result<(), Finding> {
        self.state = State::default();
        self.saved.clear();
        self.width = None;
        let mut lexer = Lexer::new(content, 0);
        // The last name outside a dictionary, and whether it is the last operand.
        let mut name: Option<&[u8]> = None;
        let mut numbers = Numbers::default();
        let mut ends_with_name = false;
        let mut depth = 0_usize;
        // The entries of the last dictionary.
        let mut properties = 0..0;
        loop {
            while let Some(raw) = lexer.next_plain_number() {
                if raw.len() > SAFE_NUMBER {
                    check_number(raw)?;
                }
                numbers.add(raw);
                ends_with_name = false;
            }
            let token = match lexer.next_plain_keyword() {
                Some(raw) => Token::Keyword(raw),
                None => match lexer.next_token() {
                    Ok(Some((_, token))) => token,
                    Ok(None) => return Ok(()),
                    Err(error) => return Err(Finding::new("6.2.2", error.to_string())),
                },
            };
            let mut is_name = false;
            match token {
                Token::Number(raw) => {
                    check_number(raw)?;
                    numbers.add(raw);
                }
                Token::Name(raw) => {
                    check_name(raw)?;
                    if depth == 0 {
                        name = Some(raw);
                        is_name = true;
                    }
                }
                Token::LiteralString(raw) => {
                    check_literal_string(raw)?;
                    if depth == 0 {
                        let text = decode_literal_string(raw);
                        self.show(text.iter().copied())?;
                    }
                }
                Token::HexString(raw) => {
                    check_hex_string(raw)?;
                    if depth == 0 {
                        self.show(
                            raw.as_chunks()
                                .0
                                .iter()
                                .map(|[high, low]| hex_value(*high) << 4 | hex_value(*low)),
                        )?;
                    }
                }
                Token::DictionaryStart => {
                    if depth == 0 {
                        properties.start = lexer.position();
                        lexer.skip_content_identifier();
                    }
                    depth += 1;
                }
                Token::DictionaryEnd => {
                    depth = depth
                        .checked_sub(1)
                        .ok_or_else(|| Finding::new("6.2.2", "the end of a dictionary without its start"))?;
                    properties.end = lexer.position() - b">>".len();
                }
                Token::ArrayStart | Token::ArrayEnd | Token::Keyword(b"true" | b"false" | b"null") => {}
                Token::Keyword(operator) => {
                    // Named properties would be in `/Properties`, which is not a known resource.
                    if operator == b"BDC" && ends_with_name {
                        return Err(Finding::new("6.2.2", "marked content with named properties"));
                    }
                    if matches!(operator, b"d0" | b"d1") {
                        self.width = numbers
                            .as_slice()
                            .first()
                            .and_then(|raw| parse_number(raw))
                            .and_then(|width| width.as_number());
                    }
                    self.operator(operator, name)?;
                    self.mark(operator, name, content.get(properties).unwrap_or_default());
                    self.paint(operator, name, numbers.as_slice());
                    properties = 0..0;
                    name = None;
                    numbers.clear();
                }
            }
            ends_with_name = is_name;
        }
    }

    fn operator(&mut self, operator: &[u8], name: Option<&[u8]>) -> Result<(), Finding> {
        let is_in = |resources: &Dictionary| name.is_some_and(|name| resources.get_bytes(&decode_name(name)).is_some());
        let is_fine = match operator {
            b"q" => {
                self.saved.push(self.state);
                if self.saved.len() > MAX_NESTING {
                    return Err(Finding::new("6.1.13-8", "q nested more than 28 levels deep"));
                }
                true
            }
            b"Q" => {
                let without_font = State {
                    font: None,
                    ..self.state
                };
                self.state = self.saved.pop().unwrap_or(without_font);
                true
            }
            b"Tf" => {
                self.state.font = name.and_then(|name| self.find_font(name));
                self.state.font.is_some()
            }
            b"gs" => is_in(&self.graphics_states),
            b"Do" => is_in(&self.external_objects),
            b"cs" | b"CS" => matches!(name, Some(b"DeviceRGB" | b"DeviceGray" | b"Pattern")),
            b"scn" | b"SCN" => name.is_none() || is_in(&self.patterns),
            // ISO 32000-1, annex A, except shadings, CMYK, rendering intents, inline images and compatibility sections.
            b"cm" | b"w" | b"J" | b"j" | b"M" | b"d" | b"i" | b"m" | b"l" | b"c" | b"v" | b"y" | b"h" | b"re"
            | b"S" | b"s" | b"f" | b"f*" | b"B" | b"B*" | b"b" | b"b*" | b"n" | b"W" | b"W*" | b"BT" | b"ET"
            | b"Tc" | b"Tw" | b"Tz" | b"TL" | b"Tr" | b"Ts" | b"Td" | b"TD" | b"Tm" | b"T*" | b"Tj" | b"TJ" | b"g"
            | b"G" | b"rg" | b"RG" | b"sc" | b"SC" | b"d0" | b"d1" | b"BMC" | b"BDC" | b"EMC" => true,
            _ => false,
        };
        if is_fine {
            return Ok(());
        }
        let operator = String::from_utf8_lossy(operator).into_owned();
        let operand = name
            .map(|name| format!("/{} ", String::from_utf8_lossy(name)))
            .unwrap_or_default();
        Err(Finding::new(
            "6.2.2",
            format!("content: {operand}{operator} is not known to conform"),
        ))
    }

    /// Records marked content, and what is painted in it.
    fn mark(&mut self, operator: &[u8], name: Option<&[u8]>, properties: &[u8]) {
        match operator {
            b"BDC" | b"BMC" => self.marks.begin(&decode_name(name.unwrap_or_default()), properties),
            b"EMC" => self.marks.end(),
            b"Tj" | b"TJ" => self.marks.text(),
            b"S" | b"s" | b"f" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => self.marks.graphics(),
            b"Do" => {
                let object = name.and_then(|name| self.external_objects.get_bytes(&decode_name(name)));
                match object.and_then(Object::as_reference) {
                    Some(number) if self.shown.drawings.contains(&number) => self.marks.form(number),
                    _ => self.marks.graphics(),
                }
            }
            _ => {}
        }
    }

    /// Follows the current colour, and records the colours of what is painted.
    fn paint(&mut self, operator: &[u8], name: Option<&[u8]>, numbers: &[&[u8]]) {
        let State { fill, .. } = self.state;
        match operator {
            b"Tj" | b"TJ" => self.colours.text(fill),
            b"f" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => self.colours.shape(fill),
            _ => self.state.fill.set(operator, name, numbers),
        }
    }

    /// Stores marks and colours of all content that was scanned under the number of its owner.
    fn finish(self, owner: ObjectNumber) {
        let mut marks = self.marks;
        marks.finish();
        self.shown.marks.insert(owner, marks);
        self.shown.colours.insert(owner, self.colours);
    }

    fn find_font(&mut self, name: &[u8]) -> Option<Font> {
        let number = self.fonts.get_bytes(&decode_name(name))?.as_reference()?;
        let (font, shown) = match self.shown.composite.get_mut(&number) {
            Some(shown) => (Font::Composite(number), shown),
            None => (Font::Type3(number), self.shown.type_3.get_mut(&number)?),
        };
        shown.select(self.document, number);
        Some(font)
    }

    /// Records the codes of a string.
    fn show(&mut self, mut bytes: impl Iterator<Item = u8>) -> Result<(), Finding> {
        let font = match self.state.font {
            Some(Font::Composite(number)) => self.shown.composite.get_mut(&number),
            Some(Font::Type3(number)) => self.shown.type_3.get_mut(&number),
            None => None,
        };
        let font = font.ok_or_else(|| Finding::new("6.2.11", "content: text without a font"))?;
        let mut has_icon = false;
        while let Some(first) = bytes.next() {
            let code = match self.state.font {
                Some(Font::Composite(_)) => {
                    let second = bytes
                        .next()
                        .ok_or_else(|| Finding::new("6.2.11", "content: an incomplete character code"))?;
                    u16::from_be_bytes([first, second])
                }
                _ => u16::from(first),
            };
            if code == 0 && matches!(self.state.font, Some(Font::Composite(_))) {
                return Err(Finding::new(
                    "6.2.11.8-1",
                    "content: a character that is missing from the font",
                ));
            }
            has_icon |= font.show(code);
        }
        if has_icon {
            self.marks.icon();
        }
        Ok(())
    }
}
