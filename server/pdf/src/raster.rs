//! Rasterizes pages.

pub mod words;

mod demand;
pub mod difference;

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
use crate::object::ObjectNumber;
use crate::object_streams::unpack;
use crate::page_tree::list_pages;
use demand::Demand;

/// Most pixels of an image: an A4 page at 570 dots per inch.
const MAX_PIXELS: usize = 32_000_000;
/// Most pixels of each side of an image.
const MAX_SIDE: usize = u16::MAX as usize;
/// Most pixels of all images that a page draws, as they are stored in the file.
const MAX_SOURCE_PIXELS: u64 = 256_000_000;
/// Most bytes of everything else that a page draws with, uncompressed: content, fonts, patterns. Dense maps have some
/// ten million.
const MAX_CONTENT: u64 = 64 * 1024 * 1024;
const POINTS_PER_INCH: f64 = 72.0;

/// The page to rasterize, and its resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageView {
    /// Page number, from 1.
    pub page: usize,
    /// Pixels per inch of the page. 96 gives the size at which browsers show the page.
    pub dots_per_inch: u16,
}

/// An opaque sRGB image.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// Width in pixels, at least 1.
    pub width: usize,
    /// Height in pixels, at least 1.
    pub height: usize,
    /// Three bytes (red, green, blue) for each pixel, row by row from the top.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Encodes the image as a PNG file, with fast compression.
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

/// Why a page can't be rasterized.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RasterError {
    /// The bytes are not a PDF as Chromium or this package writes it.
    #[error(transparent)]
    Pdf(#[from] PdfError),
    /// The document has no such page.
    #[error("there is no page {page}; the document has {page_count} pages")]
    NoSuchPage {
        /// The requested page number.
        page: usize,
        /// Number of pages of the document.
        page_count: usize,
    },
    /// The image would have more than 32,000,000 pixels, or more than 65,535 on a side.
    #[error(
        "the image would have {width} × {height} pixels; the limit is {MAX_PIXELS} in total and {MAX_SIDE} per side"
    )]
    TooManyPixels {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The page draws with more than 64 MiB of content or 256,000,000 pixels of images.
    #[error("page {page} draws with more than {MAX_CONTENT} bytes of content or {MAX_SOURCE_PIXELS} pixels of images")]
    TooMuchContent {
        /// Page number, from 1.
        page: usize,
    },
    /// The page could not be drawn, because of an internal error.
    #[error("page {page} could not be drawn")]
    NotDrawn {
        /// Page number, from 1.
        page: usize,
    },
}

/// Rasterizes a page of a PDF, as Chromium or this package writes it, on a white background.
///
/// The size of the image is limited, and so are the page's content, fonts and images, each counted once. Time is not
/// limited otherwise: content that is drawn repeatedly, such as a pattern or large transparent groups above each other,
/// takes time for each repetition, and drawing can't be interrupted. Call this in a process that can be killed.
pub fn rasterise(pdf: &[u8], view: PageView) -> Result<Picture, RasterError> {
    rasterise_at(pdf, view.page, Resolution::DotsPerInch(view.dots_per_inch))
}

/// Like [`rasterise`], but with `longer_side` pixels along the longer side of the page, regardless of its size.
pub fn thumbnail(pdf: &[u8], page: usize, longer_side: u16) -> Result<Picture, RasterError> {
    rasterise_at(pdf, page, Resolution::LongerSide(longer_side))
}

/// Returns the longer side of a page in points.
pub fn longer_side(pdf: &[u8], page: usize) -> Result<f32, RasterError> {
    let pdf = &*unpack(pdf)?;
    let measured = catch_unwind(|| {
        let pdf = Pdf::new(pdf.to_vec()).ok()?;
        let (width, height) = pdf.pages().get(page.checked_sub(1)?)?.render_dimensions();
        Some(width.max(height))
    });
    measured.ok().flatten().ok_or(RasterError::NotDrawn { page })
}

#[derive(Clone, Copy)]
enum Resolution {
    DotsPerInch(u16),
    /// Length of the longer side in pixels.
    LongerSide(u16),
}

fn rasterise_at(pdf: &[u8], page: usize, resolution: Resolution) -> Result<Picture, RasterError> {
    let pdf = &*unpack(pdf)?;
    let document = Document::open(&[pdf])?;
    let pages = list_pages(&document, document.root()?)?;
    let number = page.checked_sub(1).and_then(|index| pages.get(index));
    let page_count = pages.len();
    let number = *number.ok_or(RasterError::NoSuchPage { page, page_count })?;
    check_demand(&document, number, page)?;
    // The library should not panic, but it is young, and the page is untrusted.
    catch_unwind(|| draw(pdf, page, resolution)).unwrap_or(Err(RasterError::NotDrawn { page }))
}

/// Fails if a page, which has this object number, draws with too much.
fn check_demand(document: &Document, number: ObjectNumber, page: usize) -> Result<(), RasterError> {
    let demand = Demand::of_page(document, number)?;
    if demand.content > MAX_CONTENT || demand.pixels > MAX_SOURCE_PIXELS {
        return Err(RasterError::TooMuchContent { page });
    }
    Ok(())
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

/// Returns width and height in pixels, and the transformation that scales the page's points to exactly this size.
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
