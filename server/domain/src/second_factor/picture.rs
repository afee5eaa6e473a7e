//! QR codes for authenticator apps.

use qrcode::{Color, EcLevel, QrCode, types::QrError};
use std::fmt::Write as _;

/// The quiet zone around the code (ISO/IEC 18004, 6.3.8 requires 4 modules).
const QUIET: usize = 4;

/// A QR code as an SVG path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Side length in modules, including the quiet zone.
    pub side: usize,
    /// The dark modules, as the `d` attribute of an SVG path.
    pub path: String,
}

/// Draws the QR code of a text.
pub fn draw(text: &str) -> Result<Picture, QrError> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)?;
    let width = code.width();
    let mut path = String::new();
    for (index, _) in code
        .to_colors()
        .iter()
        .enumerate()
        .filter(|(_, color)| **color == Color::Dark)
    {
        let _ = write!(path, "M{} {}h1v1h-1z", index % width + QUIET, index / width + QUIET);
    }
    Ok(Picture {
        side: width + 2 * QUIET,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_modules_are_squares_inside_the_quiet_zone() {
        let picture = draw("PLATEN").expect("a code");
        assert_eq!(picture.side, 29);
        assert!(picture.path.starts_with("M4 4h1v1h-1zM5 4h1v1h-1z"), "{}", picture.path);
        let corners = |left: usize, top: usize| picture.path.contains(&format!("M{left} {top}h1"));
        assert!(
            corners(24, 4) && corners(4, 24) && !corners(24, 24 + 4),
            "{}",
            picture.path
        );
    }
}
