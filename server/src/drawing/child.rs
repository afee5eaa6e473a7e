//! The process that draws: a PDF on standard input, a line of JSON for each page on standard output, as soon as it is drawn.

use std::io::{self, Read, Write};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_pdf::raster::{PageView, RasterError, rasterise, thumbnail};
use rustix::process::nice;
use serde::{Deserialize, Serialize};

/// For all pages together, beyond what the program is mapped into. A picture of the largest size takes 128 MiB while it is
/// drawn, and what it is made of may take as much.
const MEMORY: u64 = 1 << 30;
/// For all pages together.
pub(super) const PROCESSOR_SECONDS: u64 = 10;
/// Nobody waits for thumbnails as people wait for renders.
const NICENESS_OF_THUMBNAILS: i32 = 10;

/// How large pages are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For somebody who reads them, with so many pixels for each inch.
    DotsPerInch(u16),
    /// To be known again: with so many pixels along the longer side, whatever the page's size.
    LongerSide(u16),
}

/// A page as a picture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drawn {
    /// Which one, from 1.
    pub page: usize,
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

/// What is drawn of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawings {
    /// How large.
    pub size: Size,
    /// So many pages from the first one on.
    pub pages: usize,
    /// The page that is drawn before the others, because somebody looks at it.
    pub first: usize,
}

impl Drawings {
    /// The pages in the order in which they are drawn.
    fn order(self) -> impl Iterator<Item = usize> {
        let in_front = Some(self.first).filter(|first| (1..=self.pages).contains(first));
        let others = (1..=self.pages).filter(move |page| Some(*page) != in_front);
        in_front.into_iter().chain(others)
    }
}

/// Draws pages of what comes on standard input; ends with the first that can't be drawn.
///
/// # Errors
/// When the limits cannot be set, in which case nothing is drawn, or when the parent is gone.
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
        // The document has fewer pages than it had.
        assert_eq!(order(5, 2), [1, 2]);
        assert_eq!(order(0, 2), [1, 2]);
    }
}
