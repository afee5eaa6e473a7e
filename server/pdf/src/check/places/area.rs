//! Rectangles on a page, and texts in them.

use crate::check::levels::MAX_TEXT;

/// A rectangle: left, bottom, right, top.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Area(pub(crate) [f64; 4]);

impl Area {
    /// Returns the smallest rectangle around points; `None` if a coordinate is not finite.
    pub(crate) fn of<const N: usize>(points: [(f64, f64); N]) -> Option<Self> {
        let areas = points.map(|(x, y)| (x.is_finite() && y.is_finite()).then_some(Self([x, y, x, y])));
        areas.into_iter().reduce(|one, other| Some(one?.and(other?))).flatten()
    }

    /// Returns the smallest rectangle around two.
    pub(crate) fn join(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    pub(crate) fn left(&self) -> f64 {
        self.0[0]
    }

    pub(crate) fn right(&self) -> f64 {
        self.0[2]
    }

    pub(crate) fn height(&self) -> f64 {
        self.0[3] - self.0[1]
    }

    /// Returns the part of the rectangle that is inside another, if there is one. It may be empty.
    pub(crate) fn within(self, other: Option<Self>) -> Self {
        let Some(Self(other)) = other else { return self };
        let own = self.0;
        Self([
            own[0].max(other[0]),
            own[1].max(other[1]),
            own[2].min(other[2]),
            own[3].min(other[3]),
        ])
    }

    /// Returns the area of the rectangle, in square units; 0 if it is empty.
    pub(crate) fn extent(self) -> f64 {
        let [left, bottom, right, top] = self.0;
        (right - left).max(0.0) * (top - bottom).max(0.0)
    }

    /// Returns the smaller side of the rectangle; 0 if it is empty.
    pub(crate) fn thickness(self) -> f64 {
        let [left, bottom, right, top] = self.0;
        (right - left).min(top - bottom).max(0.0)
    }

    /// Returns the part of a line of text where most of its letters are: without the space above and below them.
    pub(crate) fn middle(self) -> Self {
        let ([left, bottom, right, top], height) = (self.0, self.height());
        Self([left, bottom + height * 0.25, right, top - height * 0.3])
    }

    /// Returns whether another rectangle is at the same height, at least in part.
    pub(crate) fn overlaps_vertically(&self, other: Self) -> bool {
        self.0[1] < other.0[3] && other.0[1] < self.0[3]
    }

    /// Returns whether another rectangle is inside, by up to half its height.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let ([left, bottom, right, top], tolerance) = (other.0, other.height() / 2.0);
        self.0[0] <= left + tolerance
            && self.0[1] <= bottom + tolerance
            && self.0[2] >= right - tolerance
            && self.0[3] >= top - tolerance
    }

    /// Returns whether another rectangle is read after this one: below it, or to the right of it and not above it. Lines
    /// may overlap by half their height.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        let tolerance = self.height().min(other.height()) / 2.0;
        let ([_, bottom, right, top], [left, other_bottom, _, other_top]) = (self.0, other.0);
        bottom >= other_top - tolerance || right <= left + tolerance && top > other_bottom + tolerance
    }

    /// Returns the smallest rectangle around two.
    pub(crate) fn and(self, Self(other): Self) -> Self {
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
pub(in crate::check) struct Spot {
    pub(in crate::check) area: Option<Area>,
    /// In UTF-16; not much longer than is reported.
    text: Vec<u16>,
}

impl Spot {
    /// Adds what is painted next at the same place. A space separates lines.
    pub(in crate::check) fn add(&mut self, area: Option<Area>, text: &[u16]) {
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
    pub(in crate::check) fn join(&mut self, other: &Self) {
        self.add(other.area, &other.text);
    }

    /// Returns whether at least half of a rectangle is inside of the place.
    pub(in crate::check) fn overlaps(&self, area: Area) -> bool {
        let inside = self.area.map_or(0.0, |own| own.within(Some(area)).extent());
        inside * 2.0 >= area.extent()
    }

    /// Returns at most [`MAX_TEXT`] characters of the text; `None` if it is blank.
    pub(in crate::check) fn text(&self) -> Option<String> {
        let text = String::from_utf16_lossy(&self.text);
        let text: Vec<&str> = text.split_whitespace().collect();
        let text: String = text.join(" ").chars().take(MAX_TEXT).collect();
        (!text.is_empty()).then_some(text)
    }
}
