//! Draws pages as pictures.

mod demand;

use std::panic::catch_unwind;

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_interpret::util::TransformExt as _;
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::Affine;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::{Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit};
use hayro::{RenderCache, RenderSettings, render_into};
use png::{BitDepth, ColorType, Encoder, Filter};

use crate::PdfError;
use crate::document::Document;
use crate::object_streams::unpack;
use crate::page_tree::list_pages;
use demand::Demand;

/// Of the whole picture: an A4 page at 570 dots per inch.
const MAX_PIXELS: usize = 32_000_000;
/// Of each side.
const MAX_SIDE: usize = u16::MAX as usize;
/// Of all pictures that the page draws, as they stand in the file.
const MAX_SOURCE_PIXELS: u64 = 256_000_000;
/// Of everything else that the page draws with, uncompressed: content, fonts, patterns. Dense maps have some ten million.
const MAX_CONTENT: u64 = 64 * 1024 * 1024;
const POINTS_PER_INCH: f64 = 72.0;

/// Which page to draw, and how large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageView {
    /// One-based.
    pub page: usize,
    /// Pixels for each inch of the page. 96 makes a picture of the size that browsers show.
    pub dots_per_inch: u16,
}

/// A picture without transparency, in sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// Pixels, at least 1.
    pub width: usize,
    /// Pixels, at least 1.
    pub height: usize,
    /// Three bytes (red, green, blue) for each pixel, row by row from the top.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// The picture as a PNG file, compressed for speed.
    pub fn to_png(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(self.pixels.len() / 8);
        let mut encoder = Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(Filter::Up);
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.pixels));
        written.unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
        file
    }
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RasterError {
    /// The bytes are not a PDF as Chromium or this package writes it.
    #[error(transparent)]
    Pdf(#[from] PdfError),
    /// The document has no such page.
    #[error("there is no page {page}; the document has {page_count}")]
    NoSuchPage {
        /// As asked for.
        page: usize,
        /// Pages in the document.
        page_count: usize,
    },
    /// The picture would be too large.
    #[error("a picture of {width} × {height} pixels; at most {MAX_PIXELS} in all and {MAX_SIDE} a side are allowed")]
    TooManyPixels {
        /// Pixels.
        width: usize,
        /// Pixels.
        height: usize,
    },
    /// The page draws more than is worth a picture.
    #[error(
        "page {page} draws with more than {MAX_CONTENT} bytes of content or {MAX_SOURCE_PIXELS} pixels of pictures"
    )]
    TooMuchContent {
        /// One-based.
        page: usize,
    },
    /// The page could not be drawn; a fault of ours.
    #[error("page {page} could not be drawn")]
    NotDrawn {
        /// One-based.
        page: usize,
    },
}

/// Draws a page of a PDF as Chromium or this package writes it, on white.
///
/// Bounded are the size of the picture, and what the page draws with: its content, fonts and pictures, each counted
/// once. Time is bounded only in so far: whatever the page draws many times, such as a pattern or large transparent
/// groups above each other, costs its time each time, and nothing stops a drawing once it has begun. So call this in a
/// process that can be ended.
pub fn rasterise(pdf: &[u8], view: PageView) -> Result<Picture, RasterError> {
    rasterise_at(pdf, view.page, Resolution::DotsPerInch(view.dots_per_inch))
}

/// As [`rasterise`], with so many pixels along the longer side of the page, whatever its size.
pub fn thumbnail(pdf: &[u8], page: usize, longer_side: u16) -> Result<Picture, RasterError> {
    rasterise_at(pdf, page, Resolution::LongerSide(longer_side))
}

#[derive(Clone, Copy)]
enum Resolution {
    DotsPerInch(u16),
    /// Pixels.
    LongerSide(u16),
}

fn rasterise_at(pdf: &[u8], page: usize, resolution: Resolution) -> Result<Picture, RasterError> {
    let pdf = &*unpack(pdf)?;
    let document = Document::open(&[pdf])?;
    let pages = list_pages(&document, document.root()?)?;
    let number = page.checked_sub(1).and_then(|index| pages.get(index));
    let page_count = pages.len();
    let number = *number.ok_or(RasterError::NoSuchPage { page, page_count })?;
    let demand = Demand::of_page(&document, number)?;
    if demand.content > MAX_CONTENT || demand.pixels > MAX_SOURCE_PIXELS {
        return Err(RasterError::TooMuchContent { page });
    }
    // The library promises much, but it is young and the page a stranger's.
    catch_unwind(|| draw(pdf, page, resolution)).unwrap_or(Err(RasterError::NotDrawn { page }))
}

fn draw(pdf: &[u8], page: usize, resolution: Resolution) -> Result<Picture, RasterError> {
    let not_drawn = RasterError::NotDrawn { page };
    let pdf = Pdf::new(pdf.to_vec()).map_err(|_| not_drawn.clone())?;
    let page = pdf.pages().get(page - 1).ok_or_else(|| not_drawn.clone())?;
    let (width, height, scale) = size(page, resolution)?;

    let mut context = RenderContext::new(width, height);
    render_into(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &mut context,
        scale * page.initial_transform(true).to_kurbo(),
    );
    context.flush();
    let mut pixels = Pixmap::new(width, height);
    let white = RasterizerSettings {
        target_init: TargetInit::Clear(WHITE),
        ..RasterizerSettings::default()
    };
    context.render_with(&mut pixels, &mut Resources::default(), white);
    Ok(Picture {
        width: width.into(),
        height: height.into(),
        pixels: pixels
            .data()
            .iter()
            .flat_map(|pixel| [pixel.r, pixel.g, pixel.b])
            .collect(),
    })
}

/// Width and height in pixels, and what takes the page's points to exactly these.
fn size(page: &Page, resolution: Resolution) -> Result<(u16, u16, Affine), RasterError> {
    let (points_wide, points_high) = page.render_dimensions();
    let scale = match resolution {
        Resolution::DotsPerInch(dots_per_inch) => f64::from(dots_per_inch) / POINTS_PER_INCH,
        Resolution::LongerSide(pixels) => f64::from(pixels) / f64::from(points_wide.max(points_high)),
    };
    let pixels = |points: f32| (f64::from(points) * scale).round().max(1.0);
    let (width, height) = (pixels(points_wide), pixels(points_high));
    let too_many = RasterError::TooManyPixels {
        width: width as usize,
        height: height as usize,
    };
    if width * height > MAX_PIXELS as f64 || width.max(height) > MAX_SIDE as f64 {
        return Err(too_many);
    }
    let scale = Affine::scale_non_uniform(width / f64::from(points_wide), height / f64::from(points_high));
    Ok((width as u16, height as u16, scale))
}

#[cfg(test)]
mod tests;
