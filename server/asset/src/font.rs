//! Fonts: TrueType, OpenType, and both compressed as WOFF and WOFF2.

mod names;
mod tables;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use icu_properties::{CodePointMapData, PropertyNamesLong, props::Script};
use platen_domain::asset::properties::{Embedding, FontFace, REGULAR_WIDTH, ScriptCoverage};
use ttf_parser::{Face, Permissions, Tag};

/// Maximum numbers of axes and scripts that are listed.
const MOST_AXES: usize = 20;
const MOST_SCRIPTS: usize = 20;
/// Range of `font-weight` (CSS Fonts Module Level 4, section 2.2).
const WEIGHTS: RangeInclusive<f32> = 1.0..=1000.0;
/// Largest end of an axis below which its scale is another one.
const SMALLEST_MAXIMUM: f32 = 50.0;
/// Range of `font-stretch` that fonts have, in per cent.
const WIDTHS: RangeInclusive<f32> = 25.0..=400.0;

/// Unpacks a font, and checks and describes its tables.
pub(super) fn examine(content: &[u8]) -> Result<FontFace, String> {
    let font = unpacked(content)?;
    tables::check(&font)?;
    let face = Face::parse(&font, 0).map_err(|error| format!("The font is damaged: {error}"))?;
    let names = names::of(&face);
    let weight = face.weight().to_number().clamp(1, 1000);
    let (characters, scripts) = coverage(&face);
    Ok(FontFace {
        family: names.family,
        legacy_family: names.legacy_family,
        style: names.style,
        weight: range(&face, *b"wght", &WEIGHTS, 1.0).unwrap_or([weight; 2]),
        width: range(&face, *b"wdth", &WIDTHS, 10.0).unwrap_or([fixed_width(&face); 2]),
        italic: face.is_italic() || face.is_oblique(),
        axes: axes(&face),
        characters,
        scripts,
        embedding: embedding(&face),
    })
}

/// Returns the font in the form of its tables (sfnt).
fn unpacked(content: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let unpacked = match content.get(..4) {
        Some(b"wOF2") => wuff::decompress_woff2(content),
        Some(b"wOFF") => wuff::decompress_woff1(content),
        _ => return Ok(content.into()),
    };
    if content.get(4..8) == Some(b"ttcf") {
        return Err("Collections of fonts can't be used; upload each font as a file of its own".to_owned());
    }
    unpacked
        .map(Cow::Owned)
        .map_err(|_| "The font can't be unpacked: it is damaged or incomplete. Export it again".to_owned())
}

/// Returns the range of an axis, scaled, if the font is variable along it. Old fonts have other scales than CSS: they are
/// used in their default style.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn range(face: &Face<'_>, tag: [u8; 4], allowed: &RangeInclusive<f32>, scale: f32) -> Option<[u16; 2]> {
    let mut found = face.variation_axes().into_iter();
    let axis = found.find(|axis| axis.tag == Tag::from_bytes(&tag))?;
    let ends = [axis.min_value, axis.max_value];
    let is_usual = ends.iter().all(|end| allowed.contains(end)) && axis.max_value >= SMALLEST_MAXIMUM;
    let scaled = ends.map(|value| (value * scale).round() as u16);
    (is_usual && scaled[0] < scaled[1]).then_some(scaled)
}

/// Returns the width in thousandths (OpenType, table `OS/2`, `usWidthClass`).
fn fixed_width(face: &Face<'_>) -> u16 {
    const WIDTHS: [u16; 9] = [500, 625, 750, 875, REGULAR_WIDTH, 1125, 1250, 1500, 2000];
    let class = usize::from(face.width().to_number());
    class
        .checked_sub(1)
        .and_then(|index| WIDTHS.get(index))
        .copied()
        .unwrap_or(REGULAR_WIDTH)
}

fn axes(face: &Face<'_>) -> Vec<String> {
    let axes = face.variation_axes().into_iter().take(MOST_AXES);
    axes.map(|axis| axis.tag.to_string()).collect()
}

/// Returns the number of characters, and those of each script.
fn coverage(face: &Face<'_>) -> (u32, Vec<ScriptCoverage>) {
    let mut characters = BTreeSet::new();
    for subtable in face.tables().cmap.into_iter().flat_map(|cmap| cmap.subtables) {
        if subtable.is_unicode() {
            subtable.codepoints(|character| _ = characters.insert(character));
        }
    }
    let mut scripts = BTreeMap::<_, u32>::new();
    let properties = CodePointMapData::<Script>::new();
    for character in &characters {
        let script = properties.get32(*character);
        if ![Script::Common, Script::Inherited, Script::Unknown].contains(&script) {
            *scripts.entry(script).or_default() += 1;
        }
    }
    let mut scripts: Vec<_> = scripts.into_iter().collect();
    scripts.sort_by_key(|(_, characters)| std::cmp::Reverse(*characters));
    let names = PropertyNamesLong::<Script>::new();
    let scripts = scripts
        .into_iter()
        .take(MOST_SCRIPTS)
        .map(|(script, characters)| ScriptCoverage {
            script: names.get(script).unwrap_or_default().replace('_', " "),
            characters,
        });
    (characters.len().try_into().unwrap_or(u32::MAX), scripts.collect())
}

fn embedding(face: &Face<'_>) -> Embedding {
    match face.permissions() {
        Some(Permissions::Restricted) => Embedding::Restricted,
        Some(Permissions::PreviewAndPrint) => Embedding::PreviewAndPrint,
        Some(Permissions::Editable) => Embedding::Editable,
        Some(Permissions::Installable) | None => Embedding::Installable,
    }
}

#[cfg(test)]
mod tests;
