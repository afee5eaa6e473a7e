//! Rectangles on a page, and texts in them.

use crate::check::levels::MAX_TEXT;

/// A rectangle: left, bottom, right, top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area(pub(super) [f64; 4]);

impl Area {
    /// Returns the smallest rectangle around points; `None` if a coordinate is not finite.
    pub(super) fn of<const N: usize>(points: [(f64, f64); N]) -> Option<Self> {
        let areas = points.map(|(x, y)| (x.is_finite() && y.is_finite()).then_some(Self([x, y, x, y])));
        areas.into_iter().reduce(|one, other| Some(one?.and(other?))).flatten()
    }

    /// Returns the smallest rectangle around two.
    pub(super) fn join(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    fn and(self, Self(other): Self) -> Self {
        let own = self.0;
        Self([
            own[0].min(other[0]),
            own[1].min(other[1]),
            own[2].max(other[2]),
            own[3].max(other[3]),
        ])
    }
}

/// A place with its text.
#[derive(Debug, Clone, Default)]
pub(super) struct Spot {
    pub(super) area: Option<Area>,
    /// In UTF-16; not much longer than is reported.
    text: Vec<u16>,
}

impl Spot {
    /// Adds what is painted next at the same place. A space separates lines.
    pub(super) fn add(&mut self, area: Option<Area>, text: &[u16]) {
        if !text.is_empty() && self.text.len() < MAX_TEXT * 2 {
            let is_below = self
                .area
                .zip(area)
                .is_some_and(|(above, below)| below.0[3] <= above.0[1]);
            if is_below && !self.text.is_empty() {
                self.text.push(u16::from(b' '));
            }
            self.text.extend_from_slice(text);
        }
        self.area = Area::join(self.area, area);
    }

    /// Adds another place.
    pub(super) fn join(&mut self, other: &Self) {
        self.add(other.area, &other.text);
    }

    /// Returns at most [`MAX_TEXT`] characters of the text; `None` if it is blank.
    pub(super) fn text(&self) -> Option<String> {
        let text = String::from_utf16_lossy(&self.text);
        let text: Vec<&str> = text.split_whitespace().collect();
        let text: String = text.join(" ").chars().take(MAX_TEXT).collect();
        (!text.is_empty()).then_some(text)
    }
}
