//! Style sheets that declare the fonts of an account (`@font-face`, CSS Fonts Module Level 4, section 4).

use std::fmt::{self, Write};

use crate::asset::{
    Asset,
    properties::{FontFace, REGULAR_WIDTH},
};

/// Name of the style sheet that declares all fonts of an account, unless it has an asset of this name.
pub const FONT_SHEET: &str = "fonts.css";
/// Maximum number of fonts that are declared.
pub const MOST_FONTS: usize = 500;

/// Returns a style sheet that declares fonts by the names of their families, and loads them from the addresses of the assets.
pub fn font_sheet(fonts: &[Asset]) -> String {
    let mut sheet = String::new();
    for asset in fonts {
        let font = asset.font();
        let legacy = font.and_then(|font| font.legacy_family.as_deref());
        for family in [Some(asset.family()), legacy].into_iter().flatten() {
            // Writing to a string doesn't fail.
            let _ = declare(&mut sheet, family, font, &format!("asset:{}", asset.name));
        }
    }
    sheet
}

/// Returns a style sheet that shows specimens of fonts: the font of an asset, in one of its weights, has the class
/// [`specimen_class`]. `address` returns where the browser loads an asset.
pub fn specimen_sheet(fonts: &[Asset], address: impl Fn(&Asset) -> String) -> String {
    let mut sheet = String::new();
    for asset in fonts {
        let Some(font) = asset.font() else { continue };
        let family = format!("specimen-{}", asset.id);
        let style = if font.italic { "italic" } else { "normal" };
        let _ = declare(&mut sheet, &family, Some(font), &address(asset));
        for weight in font.shown_weights() {
            let class = specimen_class(asset, weight);
            let _ = writeln!(
                sheet,
                ".{class} {{ font-family: \"{family}\"; font-weight: {weight}; font-style: {style}; font-stretch: {}; }}",
                percentage(font.width[0].max(REGULAR_WIDTH).min(font.width[1]))
            );
        }
    }
    sheet
}

/// Returns the class of text in the font of an asset.
pub fn specimen_class(asset: &Asset, weight: u16) -> String {
    format!("specimen-{}-{weight}", asset.id)
}

fn declare(sheet: &mut String, family: &str, font: Option<&FontFace>, address: &str) -> fmt::Result {
    writeln!(sheet, "@font-face {{\n  font-family: {};", quoted(family))?;
    if let Some(font) = font {
        writeln!(
            sheet,
            "  font-weight: {};",
            range(font.weight, |weight| weight.to_string())
        )?;
        writeln!(sheet, "  font-stretch: {};", range(font.width, percentage))?;
        writeln!(
            sheet,
            "  font-style: {};",
            if font.italic { "italic" } else { "normal" }
        )?;
    }
    writeln!(sheet, "  src: url({});\n}}", quoted(address))
}

fn range(ends: [u16; 2], shown: impl Fn(u16) -> String) -> String {
    let [start, end] = ends;
    if start == end {
        shown(start)
    } else {
        format!("{} {}", shown(start), shown(end))
    }
}

fn percentage(thousandths: u16) -> String {
    format!("{}%", f32::from(thousandths) / 10.0)
}

/// Returns a string of CSS.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::{
        asset::properties::{AssetProperties, Embedding},
        ids::AssetId,
    };

    fn font(name: &str, font: Option<FontFace>) -> Asset {
        Asset {
            id: AssetId::generate(),
            name: name.to_owned(),
            content_type: "font/woff2".to_owned(),
            bytes: 1,
            sha256: String::new(),
            inserted_at: OffsetDateTime::UNIX_EPOCH,
            updated_at: OffsetDateTime::UNIX_EPOCH,
            tags: Vec::new(),
            replaced: None,
            properties: font.map(AssetProperties::Font),
        }
    }

    fn face(family: &str, weight: [u16; 2], width: [u16; 2], italic: bool) -> FontFace {
        FontFace {
            family: Some(family.to_owned()),
            legacy_family: italic.then(|| format!("{family} Italic")),
            style: None,
            weight,
            width,
            italic,
            axes: Vec::new(),
            characters: 1,
            scripts: Vec::new(),
            embedding: Embedding::Installable,
        }
    }

    #[test]
    fn fonts_are_declared_by_family_and_style() {
        let fonts = [
            font(
                "fonts/a b.woff2",
                Some(face("A \"B\" \\", [100, 900], [625, 1250], true)),
            ),
            font("fonts/Old.ttf", None),
        ];
        let expected = r#"@font-face {
  font-family: "A \"B\" \\";
  font-weight: 100 900;
  font-stretch: 62.5% 125%;
  font-style: italic;
  src: url("asset:fonts/a b.woff2");
}
@font-face {
  font-family: "A \"B\" \\ Italic";
  font-weight: 100 900;
  font-stretch: 62.5% 125%;
  font-style: italic;
  src: url("asset:fonts/a b.woff2");
}
@font-face {
  font-family: "Old";
  src: url("asset:fonts/Old.ttf");
}
"#;
        assert_eq!(font_sheet(&fonts), expected);
    }

    #[test]
    fn specimens_show_each_weight() {
        let asset = font("a.woff2", Some(face("A", [300, 600], [750, 900], false)));
        let sheet = specimen_sheet(std::slice::from_ref(&asset), |_| "/font".to_owned());
        assert!(sheet.contains("src: url(\"/font\")"), "{sheet}");
        for weight in [400, 600] {
            let class = specimen_class(&asset, weight);
            let rule = format!(
                ".{class} {{ font-family: \"specimen-{}\"; font-weight: {weight};",
                asset.id
            );
            assert!(sheet.contains(&rule), "{sheet}");
        }
        assert!(sheet.contains("font-stretch: 90%; }"), "{sheet}");
    }
}
