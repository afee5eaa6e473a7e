//! Fonts: every shown glyph must exist and have the width that the document declares (ISO 19005-2, 6.2.11).

use std::collections::BTreeMap;

use ttf_parser::{Face, GlyphId};

use super::shown::Codes;
use super::{Finding, dictionary};
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Allowed difference between widths, in thousandths of an em (6.2.11.5).
const TOLERANCE: f64 = 1.0;
/// Default of `/DW` (ISO 32000-1, 9.7.4.3).
const DEFAULT_WIDTH: f64 = 1000.0;

/// Checks a font of two-byte codes. Its shape guarantees that encoding and map are the identity, so a code is a glyph
/// id.
pub(super) fn check_composite_font(document: &Document, number: ObjectNumber, codes: &Codes) -> Result<(), Finding> {
    let font = dictionary(document, number)?;
    let descendants = array(document, &font, "DescendantFonts")?;
    let [descendant] = &descendants[..] else {
        return Err(Finding::new("6.2.11", "composite font: expected a single descendant"));
    };
    let descendant = resolve(document, descendant)?;
    let descendant = descendant
        .as_dictionary()
        .ok_or_else(|| Finding::new("6.2.11", "expected a CID font"))?;
    let descriptor = document
        .resolve_dictionary(descendant, "FontDescriptor")
        .unwrap_or_default();
    let names = [
        font.get("BaseFont"),
        descendant.get("BaseFont"),
        descriptor.get("FontName"),
    ];
    if names.iter().any(|name| *name != names[0]) {
        return Err(Finding::new(
            "6.2.11.2",
            "composite font: expected the same name in all its parts",
        ));
    }
    let not_embedded = || Finding::new("6.2.11.4.1-1", "composite font: expected an embedded font program");
    let program = descriptor.get("FontFile2").ok_or_else(not_embedded)?;
    let Object::Stream(program) = resolve(document, program)? else {
        return Err(not_embedded());
    };
    let mut data = Vec::new();
    StreamReader::default()
        .read(&program, &mut data)
        .map_err(|what| Finding::new("6.2.11.4.1", format!("font program: {what}")))?;
    let face = Face::parse(&data, 0).map_err(|error| Finding::new("6.2.11.4.1", format!("font program: {error}")))?;

    let widths = widths(&array(document, descendant, "W")?)?;
    let default = descendant
        .get("DW")
        .and_then(Object::as_number)
        .unwrap_or(DEFAULT_WIDTH);
    let per_unit = 1000.0 / f64::from(face.units_per_em());
    for code in codes.iter() {
        let Some(advance) = face.glyph_hor_advance(GlyphId(code)) else {
            return Err(Finding::new(
                "6.2.11.4.1-2",
                format!("composite font: glyph {code} is missing from its program"),
            ));
        };
        let width = widths.get(usize::from(code)).copied().flatten().unwrap_or(default);
        if (f64::from(advance) * per_unit - width).abs() > TOLERANCE {
            return Err(Finding::new(
                "6.2.11.5-1",
                format!("composite font: the width of glyph {code} is not {width}"),
            ));
        }
    }
    Ok(())
}

/// Checks a font whose glyphs are drawn by content streams, each of which sets a width.
pub(super) fn check_type_3_font(
    document: &Document,
    number: ObjectNumber,
    codes: &Codes,
    glyph_widths: &BTreeMap<ObjectNumber, f64>,
) -> Result<(), Finding> {
    let font = dictionary(document, number)?;
    let integer = |key| {
        font.get(key)
            .and_then(Object::as_integer)
            .and_then(|value| usize::try_from(value).ok())
    };
    let widths = array(document, &font, "Widths")?;
    let (Some(first), Some(last)) = (integer("FirstChar"), integer("LastChar")) else {
        return Err(Finding::new("6.2.11.2", "Type 3 font: expected codes from 0"));
    };
    if last > 255 || first + widths.len() != last + 1 {
        return Err(Finding::new(
            "6.2.11.2-6",
            "Type 3 font: expected a width for each code",
        ));
    }
    let encoding = document.resolve_dictionary(&font, "Encoding").unwrap_or_default();
    let names = glyph_names(&array(document, &encoding, "Differences")?);
    let procedures = document.resolve_dictionary(&font, "CharProcs").unwrap_or_default();
    for code in codes.iter() {
        let name = names
            .get(usize::from(code))
            .and_then(Option::as_deref)
            .unwrap_or(b".notdef");
        if name == b".notdef" {
            return Err(Finding::new(
                "6.2.11.8-1",
                format!("Type 3 font: code {code} has no glyph"),
            ));
        }
        let procedure = procedures.get_bytes(name).and_then(Object::as_reference);
        let Some(procedure) = procedure else {
            return Err(Finding::new(
                "6.2.11.4.1-2",
                format!("Type 3 font: the glyph of code {code} is missing"),
            ));
        };
        let width = usize::from(code)
            .checked_sub(first)
            .and_then(|index| widths.get(index))
            .and_then(Object::as_number);
        match (glyph_widths.get(&procedure), width) {
            (Some(drawn), Some(width)) if (drawn - width).abs() <= TOLERANCE => {}
            _ => {
                return Err(Finding::new(
                    "6.2.11.5-1",
                    format!("Type 3 font: the width of code {code} is not that of its glyph"),
                ));
            }
        }
    }
    Ok(())
}

/// Returns widths by CID, from `/W` (ISO 32000-1, 9.7.4.3).
pub(super) fn widths(entries: &[Object]) -> Result<Vec<Option<f64>>, Finding> {
    let damaged = || Finding::new("6.2.11.5", "CID font: expected widths by CID in /W");
    let cid = |object: &Object| {
        object
            .as_integer()
            .and_then(|cid| u16::try_from(cid).ok())
            .map(usize::from)
    };
    let mut widths = Vec::new();
    let mut rest = entries;
    while let [first, after @ ..] = rest {
        // CIDs must ascend, so that each has one width.
        let first = cid(first).filter(|first| *first >= widths.len()).ok_or_else(damaged)?;
        let (given, tail): (Vec<Option<f64>>, _) = match after {
            [Object::Array(given), tail @ ..] => (given.iter().map(Object::as_number).collect(), tail),
            [last, width, tail @ ..] => {
                let last = cid(last).filter(|last| *last >= first).ok_or_else(damaged)?;
                (vec![width.as_number(); last - first + 1], tail)
            }
            _ => return Err(damaged()),
        };
        let end = first + given.len();
        if end > usize::from(u16::MAX) + 1 {
            return Err(damaged());
        }
        widths.resize(first, None);
        widths.extend(given);
        rest = tail;
    }
    Ok(widths)
}

/// Returns glyph names by code, from `/Differences` (ISO 32000-1, 9.6.6).
fn glyph_names(differences: &[Object]) -> Vec<Option<Vec<u8>>> {
    let mut names = vec![None; 256];
    let mut code = 0_usize;
    for item in differences {
        match item {
            Object::Integer(start) => code = usize::try_from(*start).unwrap_or(usize::MAX),
            Object::Name(name) => {
                if let Some(place) = names.get_mut(code) {
                    *place = Some(name.to_vec());
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    names
}

pub(super) fn array<'a>(
    document: &Document<'a>,
    owner: &Dictionary<'a>,
    key: &str,
) -> Result<Vec<Object<'a>>, Finding> {
    match owner.get(key).map(|value| resolve(document, value)).transpose()? {
        Some(Object::Array(items)) => Ok(items),
        _ => Ok(Vec::new()),
    }
}

fn resolve<'a>(document: &Document<'a>, object: &Object<'a>) -> Result<Object<'a>, Finding> {
    document
        .resolve(object)
        .map_err(|error| Finding::new("6.1", error.to_string()))
}
