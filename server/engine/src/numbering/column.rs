//! Many headers and footers on one tall page.
//!
//! Chromium makes a document of its own for the header and footer of each page, which takes about two milliseconds. So
//! those of many pages are put into one of these documents, in boxes below each other, each built as Chromium builds
//! the whole.

use std::fmt::Write as _;

use platen_pdf::StampLayout;

use crate::steps::print::Templates;

/// CSS pixels to an inch, and to a point.
const PIXELS: f64 = 96.0;
const PIXELS_PER_POINT: f64 = 96.0 / 72.0;
/// Layout rounds lengths to so many parts of a pixel.
const LAYOUT_PARTS: f64 = 64.0;
/// Boxes begin at multiples of so many pixels, which are whole in every unit between layout and PDF, and the least space
/// between them.
const STEP: f64 = 24.0;
/// Boxes of a page: more do not make it faster.
const MAX_BOXES: usize = 100;
/// In pixels. A4 reaches it with a hundred.
const MAX_HEIGHT: f64 = 120_000.0;
/// Bytes of HTML of a page.
const MAX_LENGTH: usize = 4 << 20;

/// The size of pages, whose headers and footers lie in one column, in whole points as Chromium lays them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// Of a page in points.
    pub(super) fn of((width, height): (f64, f64)) -> Self {
        Self {
            width: width.round() as u32,
            height: height.round() as u32,
        }
    }

    /// How the boxes lie in the printed file.
    pub(super) fn layout(self) -> StampLayout {
        StampLayout::Column {
            pitch: self.pitch() / PIXELS_PER_POINT,
        }
    }

    /// Width and height in inches of the paper for so many boxes.
    pub(super) fn paper(self, boxes: usize) -> [f64; 2] {
        let width = (pixels(self.width) / STEP).ceil() * STEP;
        [width / PIXELS, self.pitch() * boxes as f64 / PIXELS]
    }

    /// From the top of a box to that of the next, in pixels.
    fn pitch(self) -> f64 {
        ((pixels(self.height) / STEP).ceil() + 1.0) * STEP
    }

    /// How many boxes with such content a page takes.
    pub(super) fn boxes(self, templates: &Templates) -> usize {
        let length = templates.header.len() + templates.footer.len() + 1;
        let limit = ((MAX_HEIGHT / self.pitch()) as usize).min(MAX_LENGTH / length);
        limit.clamp(1, MAX_BOXES)
    }

    /// The header of the tall page: a box for each of the templates. `margins` as in the job, in inches. Chromium cuts
    /// pages off at whole pixels, but does not lay them out so.
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
