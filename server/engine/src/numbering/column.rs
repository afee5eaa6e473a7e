//! Prints many headers and footers on one tall page.
//!
//! Chromium creates a separate document for the header and footer of each page, which takes about two milliseconds. So
//! those of many pages are put into one such document, in boxes below each other, each with the structure that Chromium
//! uses for the whole.

use std::fmt::Write as _;

use platen_pdf::StampLayout;

use crate::steps::print::Templates;

/// CSS pixels per inch, and per point.
const PIXELS: f64 = 96.0;
const PIXELS_PER_POINT: f64 = 96.0 / 72.0;
/// Chromium's layout rounds lengths to 1/64 of a pixel.
const LAYOUT_PARTS: f64 = 64.0;
/// Boxes start at multiples of this many pixels, which are whole numbers in every unit between layout and PDF. Also the
/// minimum distance between boxes.
const STEP: f64 = 24.0;
/// Maximum number of boxes on a page; more don't make it faster.
const MAX_BOXES: usize = 100;
/// Maximum height of a page in pixels; reached by a hundred A4 boxes.
const MAX_HEIGHT: f64 = 120_000.0;
/// Maximum size of a page's HTML, in bytes.
const MAX_LENGTH: usize = 4 << 20;

/// Size of the pages whose headers and footers share a column, in whole points, as in Chromium's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// Rounds the size of a page in points.
    pub(super) fn of((width, height): (f64, f64)) -> Self {
        Self {
            width: width.round() as u32,
            height: height.round() as u32,
        }
    }

    /// Returns the layout of the boxes in the printed file.
    pub(super) fn layout(self) -> StampLayout {
        StampLayout::Column {
            pitch: self.pitch() / PIXELS_PER_POINT,
        }
    }

    /// Returns the paper width and height in inches for this number of boxes.
    pub(super) fn paper(self, boxes: usize) -> [f64; 2] {
        let width = (pixels(self.width) / STEP).ceil() * STEP;
        [width / PIXELS, self.pitch() * boxes as f64 / PIXELS]
    }

    /// Returns the distance between the tops of consecutive boxes, in pixels.
    fn pitch(self) -> f64 {
        ((pixels(self.height) / STEP).ceil() + 1.0) * STEP
    }

    /// Returns how many boxes with these templates fit on a page; at least 1.
    pub(super) fn boxes(self, templates: &Templates) -> usize {
        let length = templates.header.len() + templates.footer.len() + 1;
        let limit = ((MAX_HEIGHT / self.pitch()) as usize).min(MAX_LENGTH / length);
        limit.clamp(1, MAX_BOXES)
    }

    /// Returns the header of the tall page, with a box for each of the templates. `margins` are those of the job: top,
    /// right, bottom, left, in inches. Chromium clips pages at whole pixels but lays them out with fractions.
    pub(super) fn html(self, templates: &[Templates], margins: [f64; 4]) -> String {
        let [top, _, bottom, _] = margins.map(|margin| rounded(margin * PIXELS));
        let (width, height, pitch) = (pixels(self.width), pixels(self.height), self.pitch());
        let mut html = String::new();
        for (index, Templates { header, footer }) in templates.iter().enumerate() {
            let start = index as f64 * pitch;
            // Writing to memory does not fail.
            let _ = write!(
                html,
                "<div style=\"position:absolute;left:0;top:{start}px;width:{}px;height:{}px;contain:paint\">\
                 <div style=\"width:{width}px;height:{height}px;display:flex;flex-direction:column\">\
                 <div id=header style=\"height:{top}px\">{header}</div><div id=content></div>\
                 <div id=footer style=\"height:{bottom}px\">{footer}</div></div></div>",
                width.floor(),
                height.floor()
            );
        }
        html
    }
}

fn pixels(points: u32) -> f64 {
    rounded(f64::from(points) * PIXELS_PER_POINT)
}

fn rounded(pixels: f64) -> f64 {
    (pixels * LAYOUT_PARTS).round() / LAYOUT_PARTS
}
