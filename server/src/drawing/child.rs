//! The process that draws: a PDF on standard input, JSON on standard output.

use std::io::{self, Read, Write};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_pdf::raster::{PageView, RasterError, rasterise};
use serde::{Deserialize, Serialize};

/// For all pages together, beyond what the program is mapped into. A picture of the largest size takes 128 MiB while it is
/// drawn, and what it is made of may take as much.
const MEMORY: u64 = 1 << 30;
/// For all pages together.
pub(super) const PROCESSOR_SECONDS: u64 = 10;

/// A page as a picture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drawn {
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// A PNG file as base64.
    pub png: String,
}

/// Why nothing is drawn, as a sentence.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The page asks for too much.
    TooMuch(String),
    /// We are to blame.
    NotDrawn(String),
}

/// Draws the first so many pages of what comes on standard input.
///
/// # Errors
/// When the limits cannot be set, in which case nothing is drawn, or when the parent is gone.
pub fn run(dots_per_inch: u16, pages: usize) -> io::Result<()> {
    platen_confined::confine(MEMORY)?;
    platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
    let mut pdf = Vec::new();
    io::stdin().lock().read_to_end(&mut pdf)?;
    let drawn = draw(&pdf, dots_per_inch, pages).map_err(|error| match error {
        RasterError::TooManyPixels { .. } | RasterError::TooMuchContent { .. } => Refusal::TooMuch(error.to_string()),
        _ => Refusal::NotDrawn(error.to_string()),
    });
    io::stdout().lock().write_all(&serde_json::to_vec(&drawn)?)
}

fn draw(pdf: &[u8], dots_per_inch: u16, pages: usize) -> Result<Vec<Drawn>, RasterError> {
    let pictures = (1..=pages).map(|page| {
        let picture = rasterise(pdf, PageView { page, dots_per_inch })?;
        Ok(Drawn {
            width: picture.width,
            height: picture.height,
            png: BASE64_STANDARD.encode(picture.to_png()),
        })
    });
    pictures.collect()
}
