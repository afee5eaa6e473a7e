//! Transformations of coordinates.

/// A transformation `[a b c d e f]` (ISO 32000-1, 8.3.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix([f64; 6]);

impl Matrix {
    pub(crate) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// Returns the transformation of six numbers; `None` for another count.
    pub(crate) fn of(numbers: &[f64]) -> Option<Self> {
        numbers.try_into().ok().map(Self)
    }

    /// Returns the transformation that applies `self` first, then `next`.
    pub(crate) fn then(self, next: Self) -> Self {
        let own = self.0;
        let (across, up) = (next.turned(own[0], own[1]), next.turned(own[2], own[3]));
        let shift = next.apply(own[4], own[5]);
        Self([across.0, across.1, up.0, up.1, shift.0, shift.1])
    }

    /// Returns the transformed point.
    pub(crate) fn apply(self, x: f64, y: f64) -> (f64, f64) {
        let (across, up) = self.turned(x, y);
        (across + self.0[4], up + self.0[5])
    }

    /// Returns whether horizontal lines stay horizontal, and what is above them stays above.
    pub(crate) fn is_upright(self) -> bool {
        self.0[1] == 0.0 && self.0[0] > 0.0 && self.0[3] > 0.0
    }

    /// Returns the lengths of the transformed sides of the unit square.
    pub(crate) fn unit_lengths(self) -> [f64; 2] {
        let own = self.0;
        [own[0].hypot(own[1]), own[2].hypot(own[3])]
    }

    /// Returns the transformed vector.
    fn turned(self, x: f64, y: f64) -> (f64, f64) {
        let own = self.0;
        (x * own[0] + y * own[2], x * own[1] + y * own[3])
    }
}
