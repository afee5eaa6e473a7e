//! Draws characters that no font has. Chromium shows the font's glyph 0 for them, an empty box, to which PDF/A forbids
//! references (ISO 19005-2, 6.2.11.8). A Type 3 font with the same outline and advance is allowed.

use std::fmt::Write as _;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::PdfError;
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// Glyph space of PDF fonts: units per em.
const GLYPH_SPACE: f32 = 1000.0;
/// Default of `/DW` (ISO 32000-1, 9.7.4.3).
const DEFAULT_WIDTH: f64 = 1000.0;

/// Maps code 00 to the replacement character: the only text that the browser writes for glyph 0 is `/ActualText` around
/// it.
const UNICODE_MAP: &[u8] = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /PlatenMissing def
/CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <00> <FFFD> endbfchar
endcmap CMapName currentdict /CMap defineresource pop end end
";

/// Returns whether codes of this font have two bytes.
pub(super) fn is_composite(document: &Document, font: ObjectNumber) -> Result<bool, PdfError> {
    let font = document.get(font)?;
    let kind = font.as_dictionary().and_then(|font| font.get("Subtype"));
    Ok(kind.is_some_and(|kind| kind.is_name("Type0")))
}

/// Adds a Type 3 font with one code, 00, that draws glyph 0 of a composite font as that font does. Returns its number.
pub(super) fn add_stand_in(document: &mut Document, composite: ObjectNumber) -> Result<ObjectNumber, PdfError> {
    let damaged = |what| document.damaged(composite, what);
    let font = document.get_dictionary(composite, "expected a font")?;
    let descendant = document.descendant_font(&font)?;
    let descendant = &descendant.ok_or_else(|| damaged("expected a font with a descendant"))?;

    let advance = advance(document, descendant)?;
    let outline = match font_program(document, descendant)? {
        Some(program) => Outline::of_glyph_zero(&program),
        None => Outline::default(),
    };
    let procedure = Stream::plain(Dictionary::default(), outline.procedure(advance).into_bytes());
    let procedure = document.add(Object::Stream(procedure));
    let map = document.add(Object::Stream(Stream::plain(Dictionary::default(), UNICODE_MAP)));
    Ok(document.add(Object::Dictionary(type_3_font(advance, procedure, map))))
}

fn type_3_font<'a>(advance: f64, procedure: ObjectNumber, unicode_map: ObjectNumber) -> Dictionary<'a> {
    let glyph = || Object::name("missing");
    let encoding = Dictionary::new([
        ("Type", Object::name("Encoding")),
        ("Differences", Object::Array(vec![Object::Integer(0), glyph()])),
    ]);
    let scale = || Object::Real(f64::from(1.0 / GLYPH_SPACE));
    let zero = || Object::Integer(0);
    Dictionary::new([
        ("Type", Object::name("Font")),
        ("Subtype", Object::name("Type3")),
        // All zero, so that the procedure's own box applies (ISO 32000-1, 9.6.5).
        ("FontBBox", Object::Array(vec![zero(), zero(), zero(), zero()])),
        (
            "FontMatrix",
            Object::Array(vec![scale(), zero(), zero(), scale(), zero(), zero()]),
        ),
        ("Resources", Object::Dictionary(Dictionary::default())),
        ("FirstChar", zero()),
        ("LastChar", zero()),
        ("Widths", Object::Array(vec![Object::Real(advance)])),
        ("Encoding", Object::Dictionary(encoding)),
        (
            "CharProcs",
            Object::Dictionary(Dictionary::new([("missing", Object::Reference(procedure))])),
        ),
        ("ToUnicode", Object::Reference(unicode_map)),
    ])
}

/// Returns the advance of CID 0 in thousandths of an em, from `/W`, else `/DW` (ISO 32000-1, 9.7.4.3).
fn advance(document: &Document, descendant: &Dictionary) -> Result<f64, PdfError> {
    let default = descendant
        .get("DW")
        .and_then(Object::as_number)
        .unwrap_or(DEFAULT_WIDTH);
    let Some(Object::Array(widths)) = descendant.get("W").map(|widths| document.resolve(widths)).transpose()? else {
        return Ok(default);
    };
    let mut rest = widths.as_slice();
    loop {
        let (first, width, tail) = match rest {
            [first, Object::Array(widths), tail @ ..] => (first, widths.first(), tail),
            [first, _last, width, tail @ ..] => (first, Some(width), tail),
            _ => return Ok(default),
        };
        if first.as_integer() == Some(0)
            && let Some(width) = width.and_then(Object::as_number)
        {
            return Ok(width);
        }
        rest = tail;
    }
}

/// Returns the TrueType program. Chromium writes other kinds as Type 3 fonts.
fn font_program(document: &Document, descendant: &Dictionary) -> Result<Option<Vec<u8>>, PdfError> {
    let descriptor = document.resolve_dictionary(descendant, "FontDescriptor")?;
    let Some(reference) = descriptor.get("FontFile2") else {
        return Ok(None);
    };
    let Object::Stream(stream) = document.resolve(reference)? else {
        return Ok(None);
    };
    let mut program = Vec::new();
    match StreamReader::default().read(&stream, &mut program) {
        Ok(()) => Ok(Some(program)),
        Err(what) => Err(document.damaged(reference.as_reference().unwrap_or_default(), what)),
    }
}

/// An outline as path operators in thousandths of an em, with its bounding box.
#[derive(Debug, Default)]
struct Outline {
    path: String,
    /// Left, bottom, right, top.
    bounds: Option<[f32; 4]>,
    scale: f32,
    current: (f32, f32),
}

impl Outline {
    /// Returns the outline of glyph 0; empty if the program can't be parsed.
    fn of_glyph_zero(program: &[u8]) -> Self {
        let Ok(face) = Face::parse(program, 0) else {
            return Self::default();
        };
        let mut outline = Self {
            scale: GLYPH_SPACE / f32::from(face.units_per_em()),
            ..Self::default()
        };
        let is_drawn = face.outline_glyph(GlyphId(0), &mut outline).is_some();
        if is_drawn { outline } else { Self::default() }
    }

    fn procedure(&self, advance: f64) -> String {
        let [left, bottom, right, top] = self.bounds.unwrap_or_default();
        let fill = if self.path.is_empty() { "" } else { "f\n" };
        format!("{advance} 0 {left} {bottom} {right} {top} d1\n{}{fill}", self.path)
    }

    /// Scales a point, extends the bounding box to it, and returns it as it is written.
    fn point(&mut self, x: f32, y: f32) -> (f32, f32) {
        let round = |value: f32| (value * self.scale * 100.0).round() / 100.0;
        let (x, y) = (round(x), round(y));
        let [left, bottom, right, top] = self.bounds.unwrap_or([x, y, x, y]);
        self.bounds = Some([left.min(x), bottom.min(y), right.max(x), top.max(y)]);
        (x, y)
    }

    fn operator(&mut self, points: &[(f32, f32)], operator: &str) {
        for (x, y) in points {
            // Writing to a string does not fail.
            let _ = write!(self.path, "{x} {y} ");
        }
        self.path += operator;
        self.path.push('\n');
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.point(x, y);
        self.current = (x, y);
        self.operator(&[to], "m");
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.point(x, y);
        self.current = (x, y);
        self.operator(&[to], "l");
    }

    /// Converts a quadratic curve, which PDF doesn't have, to a cubic one of the same shape.
    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let toward = |end: f32, control: f32| end + (control - end) * 2.0 / 3.0;
        let (x0, y0) = self.current;
        self.curve_to(toward(x0, cx), toward(y0, cy), toward(x, cx), toward(y, cy), x, y);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let points = [self.point(cx0, cy0), self.point(cx1, cy1), self.point(x, y)];
        self.current = (x, y);
        self.operator(&points, "c");
    }

    fn close(&mut self) {
        self.operator(&[], "h");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_quadratic_curves() {
        let mut outline = Outline {
            scale: 0.5,
            ..Outline::default()
        };
        outline.move_to(0.0, 0.0);
        outline.quad_to(30.0, 60.0, 60.0, 0.0);
        outline.close();
        assert_eq!(
            outline.procedure(600.0),
            "600 0 0 0 30 20 d1\n0 0 m\n10 20 20 20 30 0 c\nh\nf\n"
        );
    }
}
