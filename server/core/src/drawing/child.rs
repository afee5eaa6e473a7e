//! The worker process that rasterizes: reads a PDF from standard input, and writes one line of JSON per page to
//! standard output as soon as the page is drawn. If the words of the pages are wanted, they follow in a last line. Or it
//! reads two PDFs and compares their pages, or reads the structure of a PDF, or examines assets.

use std::{
    io::{self, Read, Write},
    str::FromStr,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_domain::{
    page_comparison::{ComparedPage, MOST_PICTURED_PAGES, PageChange, Picture, Pictures},
    render::structure::{DocumentStructure, StructureElement},
};
use platen_pdf::{
    inspect::structure::{StructureTree, read_structure},
    raster::{
        PageView, Picture as Raster, RasterError,
        difference::{Difference, difference},
        longer_side, rasterise, thumbnail,
        words::words,
    },
};
use rustix::process::nice;
use serde::{Deserialize, Serialize};

/// Memory limit in bytes for all pages together, beyond the program's own mappings. A raster of the largest size takes
/// 128 MiB, and the data it is drawn from may take as much.
const MEMORY: u64 = 1 << 30;
/// Limit of processor time for all pages together.
pub(super) const PROCESSOR_SECONDS: u64 = 10;
/// Thumbnails and structures have lower priority than renders, because no caller of the API waits for them.
const NICENESS_OF_THUMBNAILS: i32 = 10;

/// Limit of processor time for a comparison, which draws up to 200 pages.
pub(super) const SECONDS_OF_COMPARISONS: u64 = 30;
/// Resolution of compared pages in pixels per inch, unless a side would have more than [`LONGEST_SIDE`] pixels.
const COMPARED_DOTS_PER_INCH: f32 = 96.0;
const LONGEST_SIDE: f32 = 1200.0;
const POINTS_PER_INCH: f32 = 72.0;
/// Maximum size of the pictures of a comparison together, in bytes of base64: pages with photographs have a MiB each.
const MOST_PICTURE_BYTES: usize = 16 << 20;

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
    /// Maximum number of words that are found on these pages once they are drawn.
    pub words: usize,
}

/// A word on a page, in the form in which it is sent to the browser: the page's number, the text, and left, top, width
/// and height in ten-thousandths of the page.
pub type PlacedWord = (usize, String, [u16; 4]);

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
            return Ok(());
        }
    }
    if wanted.words > 0 {
        serde_json::to_writer(&mut output, &find_words(&pdf, wanted))?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads the structure of the PDF on standard input.
///
/// # Errors
/// As for [`run`].
pub fn structure() -> io::Result<()> {
    nice(NICENESS_OF_THUMBNAILS)?;
    platen_confined::confine(MEMORY)?;
    platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
    let mut pdf = Vec::new();
    io::stdin().lock().read_to_end(&mut pdf)?;
    let structure = read_structure(&pdf).map(listed);
    let mut line = serde_json::to_vec(&structure.map_err(|error| Refusal::NotDrawn(error.to_string())))?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}

/// A file among those to examine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetFile {
    pub content_type: String,
    /// Size in bytes.
    pub bytes: usize,
}

impl AssetFile {
    /// Returns the command's argument for a file.
    pub(super) fn argument(content_type: &str, bytes: usize) -> String {
        format!("{content_type}:{bytes}")
    }
}

/// Parses an argument of the command.
impl FromStr for AssetFile {
    type Err = String;

    fn from_str(argument: &str) -> Result<Self, Self::Err> {
        let (content_type, bytes) = argument
            .rsplit_once(':')
            .ok_or("a media type and a size are expected")?;
        Ok(Self {
            content_type: content_type.to_owned(),
            bytes: bytes
                .parse()
                .map_err(|error: std::num::ParseIntError| error.to_string())?,
        })
    }
}

/// Examines the files on standard input, which follow one another, and writes a line for each.
///
/// # Errors
/// As for [`run`].
pub fn examine(files: &[AssetFile]) -> io::Result<()> {
    platen_confined::confine(MEMORY)?;
    let mut contents = Vec::new();
    io::stdin().lock().read_to_end(&mut contents)?;
    let mut rest = contents.as_slice();
    let mut output = io::stdout().lock();
    for file in files {
        platen_confined::grant_processor_time(PROCESSOR_SECONDS)?;
        let content = rest.split_off(..file.bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
        let examined = platen_asset::examine(&file.content_type, content);
        let mut line = serde_json::to_vec(&Ok::<_, Refusal>(examined))?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

fn listed(tree: StructureTree) -> DocumentStructure {
    let elements = tree.elements.into_iter().map(|element| StructureElement {
        depth: element.depth,
        kind: element.kind,
        page: element.page,
        title: element.title,
        language: element.language,
        alternative: element.alternative,
        actual_text: element.actual_text,
        text: element.text,
    });
    DocumentStructure {
        elements: elements.collect(),
        is_cut: tree.is_cut,
    }
}

/// The documents whose pages are compared, one after the other on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Documents {
    /// Size of the first one in bytes.
    pub older_bytes: usize,
    /// Number of pages of the first one that are compared.
    pub older_pages: usize,
    /// Number of pages of the second one that are compared.
    pub newer_pages: usize,
}

/// Compares the pages of two PDFs on standard input. Stops after the first page that can't be drawn.
///
/// # Errors
/// As for [`run`].
pub fn compare(documents: Documents) -> io::Result<()> {
    platen_confined::confine(MEMORY)?;
    platen_confined::grant_processor_time(SECONDS_OF_COMPARISONS)?;
    let mut pdfs = Vec::new();
    io::stdin().lock().read_to_end(&mut pdfs)?;
    let (older, newer) = pdfs
        .split_at_checked(documents.older_bytes)
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut pair = Pair {
        older,
        newer,
        documents,
        pictured: 0,
        picture_bytes: 0,
    };
    let mut output = io::stdout().lock();
    for number in 1..=documents.older_pages.max(documents.newer_pages) {
        let compared = pair.compare(number);
        let is_last = compared.is_err();
        let mut line = serde_json::to_vec(&compared)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
        if is_last {
            break;
        }
    }
    Ok(())
}

struct Pair<'a> {
    older: &'a [u8],
    newer: &'a [u8],
    documents: Documents,
    /// Number of pages of which there are pictures.
    pictured: usize,
    picture_bytes: usize,
}

impl Pair<'_> {
    fn compare(&mut self, number: usize) -> Result<ComparedPage, Refusal> {
        let older = (number <= self.documents.older_pages).then_some(self.older);
        let newer = (number <= self.documents.newer_pages).then_some(self.newer);
        // Both at the same scale.
        let mut longest: f32 = 0.0;
        for pdf in older.into_iter().chain(newer) {
            longest = longest.max(longer_side(pdf, number)?);
        }
        let scale = COMPARED_DOTS_PER_INCH.min(LONGEST_SIDE * POINTS_PER_INCH / longest.max(1.0));
        let view = PageView {
            page: number,
            dots_per_inch: (scale as u16).max(1),
        };
        let draw = |pdf: Option<&[u8]>| pdf.map(|pdf| rasterise(pdf, view)).transpose();
        let (before, after) = (draw(older)?, draw(newer)?);
        let found = before
            .as_ref()
            .zip(after.as_ref())
            .map(|(before, after)| difference(before, after));
        let change = match &found {
            Some(Difference { changed: 0, .. }) => PageChange::Unchanged,
            Some(Difference { changed, .. }) => PageChange::Changed { pixels: *changed },
            None if after.is_some() => PageChange::Added,
            None => PageChange::Removed,
        };
        let pictures = match change {
            PageChange::Unchanged => None,
            _ => self.pictures([before, after, found.map(|found| found.picture)]),
        };
        Ok(ComparedPage {
            number,
            change,
            pictures,
        })
    }

    /// Encodes the pictures of a changed page, unless there are too many already.
    fn pictures(&mut self, drawn: [Option<Raster>; 3]) -> Option<Pictures> {
        if self.pictured >= MOST_PICTURED_PAGES || self.picture_bytes > MOST_PICTURE_BYTES {
            return None;
        }
        let [before, after, difference] = drawn.map(|raster| raster.map(|raster| encoded(&raster)));
        let pictures = [&before, &after, &difference].into_iter().flatten();
        self.picture_bytes += pictures.map(|picture| picture.png.len()).sum::<usize>();
        self.pictured += 1;
        Some(Pictures {
            before,
            after,
            difference,
        })
    }
}

fn encoded(raster: &Raster) -> Picture {
    Picture {
        width: raster.width,
        height: raster.height,
        png: BASE64_STANDARD.encode(raster.to_png()),
    }
}

impl From<RasterError> for Refusal {
    fn from(error: RasterError) -> Self {
        match error {
            RasterError::TooManyPixels { .. } | RasterError::TooMuchContent { .. } => Self::TooMuch(error.to_string()),
            _ => Self::NotDrawn(error.to_string()),
        }
    }
}

fn find_words(pdf: &[u8], wanted: Drawings) -> Result<Vec<PlacedWord>, Refusal> {
    let words = words(pdf, wanted.pages, wanted.words).map_err(|error| Refusal::NotDrawn(error.to_string()))?;
    let words = words.into_iter().map(|word| (word.page, word.text, word.place));
    Ok(words.collect())
}

fn draw(pdf: &[u8], size: Size, page: usize) -> Result<Drawn, Refusal> {
    let drawn = match size {
        Size::DotsPerInch(dots_per_inch) => rasterise(pdf, PageView { page, dots_per_inch }),
        Size::LongerSide(pixels) => thumbnail(pdf, page, pixels),
    };
    let picture = drawn?;
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
    fn the_viewed_page_comes_first() {
        let order = |first, pages| {
            let drawings = Drawings {
                size: Size::DotsPerInch(96),
                pages,
                first,
                words: 0,
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
