//! The area of a page, to which Chromium clips the page's content. The margins come before, without a clip; header and
//! footer come after, clipped to the whole page. The area of a page without margins is the whole page, too, and that of a
//! page without tagged content is unknown. On such pages, header and footer are recognized only if the browser is known
//! to have drawn them: then they are the last on the page.

use super::{Operators, PageSetup};

/// Tolerance in points for the bounds of a page, which Chromium rounds down to whole CSS pixels of 0.75 points.
const TOLERANCE: f64 = 1.0;

pub(super) struct PageArea {
    page: PageSetup,
    /// Transformation outside of all levels of the graphics state.
    pub(super) matrix: [f64; 6],
    /// Whether tagged content has begun within the page's area.
    has_content: bool,
    /// Whether that area is the whole page.
    fills_page: bool,
    margins_end: usize,
    footer_start: Option<usize>,
    /// Start of the last level that is clipped to the whole page, unless tagged content follows.
    last_start: Option<usize>,
}

impl PageArea {
    pub(super) fn new(page: PageSetup) -> Self {
        Self {
            page,
            matrix: [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            has_content: false,
            fills_page: false,
            margins_end: 0,
            footer_start: None,
            last_start: None,
        }
    }

    /// Notes the first clip of an outermost level, whose `q` is at offset `start`: a rectangle, given by its corners.
    pub(super) fn clip(&mut self, start: usize, rectangle: [f64; 4]) {
        if self.is_whole_page(rectangle) {
            self.footer_start.get_or_insert(start);
            self.last_start = Some(start);
        }
    }

    pub(super) fn begin_tagged(&mut self, is_clipped: bool) {
        self.has_content |= is_clipped;
        self.fills_page |= self.footer_start.take().is_some();
        self.last_start = None;
    }

    pub(super) fn add_text(&mut self, text: &Operators, is_clipped: bool) {
        if !is_clipped && !self.has_content {
            self.margins_end = text.end;
        }
    }

    /// Returns the end of the margins and the start of the header and footer; `None` for one that doesn't exist or
    /// can't be told from the content.
    pub(super) fn bounds(&self) -> (usize, Option<usize>) {
        let is_known = self.has_content && !self.fills_page;
        let footer_start = if is_known {
            self.footer_start
        } else {
            // An earlier level may be that of a frame or of the page's own text.
            self.last_start.filter(|_| self.page.has_running_text)
        };
        (self.margins_end, footer_start)
    }

    /// Returns whether a rectangle covers the page, transformed without rotation, as Chromium's pages are.
    fn is_whole_page(&self, rectangle: [f64; 4]) -> bool {
        let is_covered = |axis: usize| {
            let placed = |corner: f64| corner * self.matrix[3 * axis] + self.matrix[4 + axis];
            let (start, end) = (placed(rectangle[axis]), placed(rectangle[axis + 2]));
            let (low, high) = (self.page.media_box[axis], self.page.media_box[axis + 2]);
            start.min(end) < low + TOLERANCE && start.max(end) > high - TOLERANCE
        };
        is_covered(0) && is_covered(1)
    }
}
