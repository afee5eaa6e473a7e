//! The worker process that rasterizes: reads a PDF from standard input, and writes one line of JSON per page to
//! standard output as soon as the page is drawn.

use std::io::{self, Read, Write};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_pdf::raster::{PageView, RasterError, rasterise, thumbnail};
use rustix::process::nice;
use serde::{Deserialize, Serialize};

/// Memory limit in bytes for all pages together, beyond the program's own mappings. A raster of the largest size takes
/// 128 MiB, and the data it is drawn from may take as much.
const MEMORY: u64 = 1 << 30;
/// Limit of processor time for all pages together.
pub(super) const PROCESSOR_SECONDS: u64 = 10;
/// Thumbnails have lower priority than renders, because no caller waits for them.
const NICENESS_OF_THUMBNAILS: i32 = 10;

/// The size of rasters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For reading: resolution in pixels per inch.
    DotsPerInch(u16),
    /// For thumbnails: pixels along the longer side, whatever the size of the page.
    LongerSide(u16),
}

/// A rasterized page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drawn {
    /// The page's number, from 1.
    pub page: usize,
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// PNG file in base64.
    pub png: String,
}

/// Why a page could not be drawn, as a sentence.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The page exceeds a limit.
    TooMuch(String),
    /// An internal error.
    NotDrawn(String),
}

/// The pages to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawings {
    pub size: Size,
    /// The number of pages, from page 1 on.
    pub pages: usize,
    /// The page to draw before the others, because it is visible to the user.
    pub first: usize,
}

impl Drawings {
    /// Returns the page numbers in the order in which they are drawn.
    fn order(self) -> impl Iterator<Item = usize> {
        let in_front = Some(self.first).filter(|first| (1..=self.pages).contains(first));
        let others = (1..=self.pages).filter(move |page| Some(*page) != in_front);
        in_front.into_iter().chain(others)
    }
}

/// Draws pages of the PDF on standard input. Stops after the first page that can't be drawn.
///
/// # Errors
/// If the limits can't be set, in which case nothing is drawn, or if the parent process is gone.
pub fn run(wanted: Drawings) -> io::Result<()> {
    if matches!(wanted.size, Size::LongerSide(_)) {
        nice(NICENESS_OF_THUMBNAILS)?;
    }
    platen_confined::confine(MEMORY)?;
    platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
    let mut pdf = Vec::new();
    io::stdin().lock().read_to_end(&mut pdf)?;
    let mut output = io::stdout().lock();
    for page in wanted.order() {
        let drawn = draw(&pdf, wanted.size, page);
        let is_last = drawn.is_err();
        let mut line = serde_json::to_vec(&drawn)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
        if is_last {
            break;
        }
    }
    Ok(())
}

fn draw(pdf: &[u8], size: Size, page: usize) -> Result<Drawn, Refusal> {
    let drawn = match size {
        Size::DotsPerInch(dots_per_inch) => rasterise(pdf, PageView { page, dots_per_inch }),
        Size::LongerSide(pixels) => thumbnail(pdf, page, pixels),
    };
    let picture = drawn.map_err(|error| match error {
        RasterError::TooManyPixels { .. } | RasterError::TooMuchContent { .. } => Refusal::TooMuch(error.to_string()),
        _ => Refusal::NotDrawn(error.to_string()),
    })?;
    Ok(Drawn {
        page,
        width: picture.width,
        height: picture.height,
        png: BASE64_STANDARD.encode(picture.to_png()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_somebody_looks_at_comes_first() {
        let order = |first, pages| {
            let drawings = Drawings {
                size: Size::DotsPerInch(96),
                pages,
                first,
            };
            drawings.order().collect::<Vec<_>>()
        };
        assert_eq!(order(1, 3), [1, 2, 3]);
        assert_eq!(order(3, 4), [3, 1, 2, 4]);
        // The document has fewer pages than before.
        assert_eq!(order(5, 2), [1, 2]);
        assert_eq!(order(0, 2), [1, 2]);
    }
}
