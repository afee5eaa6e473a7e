//! Examines files that accounts upload. They are untrusted, and decoding them takes memory and time, so the functions run in
//! sandboxed worker processes that limit both.

mod font;
mod picture;
mod svg;

use platen_domain::asset::properties::AssetProperties;

/// Examines a file of a type that its first bytes or its name have decided: pictures are decoded, tables of fonts are checked,
/// and SVG is parsed. Returns the properties of pictures other than SVG and AVIF, and of fonts. The error is a sentence that
/// says why the file isn't allowed.
pub fn examine(content_type: &str, content: &[u8]) -> Result<Option<AssetProperties>, String> {
    match content_type {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            picture::examine(content).map(|size| Some(AssetProperties::Picture(size)))
        }
        "image/svg+xml" => svg::check(content).map(|()| None),
        font if font.starts_with("font/") => font::examine(content).map(|face| Some(AssetProperties::Font(face))),
        _ => Ok(None),
    }
}
