//! An incompressible image, whose document is as large as its pixels.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};

/// Side length in pixels: with three bytes per pixel in Base64, the image fits into a body of 10 MiB.
const SIDE: u32 = 1560;
/// Minimum size of a document with the image, in bytes.
pub(crate) const DOCUMENT_BYTES: usize = 7_000_000;

/// Returns an `img` element with the image as a data URL.
pub(crate) fn picture() -> String {
    let pixels = (SIDE * SIDE * 3) as usize;
    let mut bitmap = Vec::with_capacity(pixels + 54);
    // BITMAPFILEHEADER and BITMAPINFOHEADER: 24 bits per pixel, rows padded to 4 bytes.
    bitmap.extend(b"BM");
    bitmap.extend((pixels as u32 + 54).to_le_bytes());
    bitmap.extend([0; 4]);
    bitmap.extend(54_u32.to_le_bytes());
    bitmap.extend(40_u32.to_le_bytes());
    bitmap.extend(SIDE.to_le_bytes());
    bitmap.extend(SIDE.to_le_bytes());
    bitmap.extend(1_u16.to_le_bytes());
    bitmap.extend(24_u16.to_le_bytes());
    bitmap.extend([0; 24]);
    bitmap.resize(pixels + 54, 0);
    SmallRng::seed_from_u64(7).fill(&mut bitmap[54..]);
    format!("<img src='data:image/bmp;base64,{}'>", BASE64_STANDARD.encode(bitmap))
}

/// Returns a request that renders the image.
pub(crate) fn request() -> Value {
    json!({"parts": [picture()], "output_encoding": "binary"})
}
