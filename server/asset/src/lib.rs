//! Examines files that accounts upload. They are untrusted, and decoding them takes memory and time, so the functions run in
//! sandboxed worker processes that limit both.

mod font;
mod picture;
mod svg;

use platen_domain::asset::properties::AssetProperties;

/// Maximum length of a reason, in characters: those of parsers may quote a file.
const LONGEST_REASON: usize = 300;

/// Returns whether files of a media type are examined.
pub fn is_examined(content_type: &str) -> bool {
    content_type.starts_with("font/")
        || matches!(
            content_type,
            "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif" | "image/svg+xml"
        )
}

/// Examines a file of a type that its first bytes or its name have decided: pictures are decoded, but AVIF is only parsed up to
/// its sequence header; tables of fonts are checked, and SVG is parsed. Returns the properties of pictures other than SVG, as far
/// as they are found, and of fonts. The error is a sentence that says why the file isn't allowed.
pub fn examine(content_type: &str, content: &[u8]) -> Result<Option<AssetProperties>, String> {
    let examined = match content_type {
        "image/svg+xml" => svg::check(content).map(|()| None),
        "image/avif" => picture::examine_avif(content).map(|size| size.map(AssetProperties::Picture)),
        font if font.starts_with("font/") => font::examine(content).map(|face| Some(AssetProperties::Font(face))),
        picture if is_examined(picture) => picture::examine(content).map(|size| Some(AssetProperties::Picture(size))),
        _ => Ok(None),
    };
    examined.map_err(|reason| reason.chars().take(LONGEST_REASON).collect())
}
