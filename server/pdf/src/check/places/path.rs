//! The current path (ISO 32000-1, 8.5.2): its place, and its outlines if they are simple.

use super::area::Area;
use crate::matrix::Matrix;

/// Most points of an outline, and most outlines, that are kept: enough for a rectangle with round corners and its border.
const MAX_POINTS: usize = 48;
const MAX_OUTLINES: usize = 2;

/// Rounding of coordinates, in square points.
const TOLERANCE: f64 = 0.01;

/// A subpath by the points that its lines and curves reach, in page coordinates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outline(Vec<(f64, f64)>);

#[derive(Default)]
pub(super) struct Path {
    area: Option<Area>,
    /// The first `count` are those of the path; the others are kept for their capacity.
    outlines: [Outline; MAX_OUTLINES],
    count: usize,
    is_complex: bool,
    last: (f64, f64),
}

impl Path {
    /// Applies a path construction operator (ISO 32000-1, table 59).
    pub(super) fn build(&mut self, operator: &[u8], numbers: &[f64], matrix: Matrix) {
        match (operator, numbers) {
            (b"re", [x, y, width, height]) => {
                let (right, top) = (x + width, y + height);
                self.begin();
                for (x, y) in [(*x, *y), (right, *y), (right, top), (*x, top)] {
                    self.add(matrix.apply(x, y));
                    self.reach();
                }
            }
            (b"re", _) => {}
            _ => {
                if operator == b"m" {
                    self.begin();
                }
                for [x, y] in numbers.as_chunks().0 {
                    self.add(matrix.apply(*x, *y));
                }
                self.reach();
            }
        }
    }

    fn begin(&mut self) {
        match self.outlines.get_mut(self.count) {
            Some(Outline(points)) => {
                points.clear();
                self.count += 1;
            }
            None => self.is_complex = true,
        }
    }

    /// Adds a point, which may control a curve.
    fn add(&mut self, point: (f64, f64)) {
        self.area = Area::join(self.area, Area::of([point]));
        self.last = point;
    }

    /// Adds the last point to the outline.
    fn reach(&mut self) {
        match self.outlines[..self.count].last_mut() {
            Some(Outline(points)) if points.len() < MAX_POINTS => points.push(self.last),
            _ => self.is_complex = true,
        }
    }

    pub(super) fn area(&self) -> Option<Area> {
        self.area
    }

    /// Returns whether the path is one upright rectangle.
    pub(super) fn is_rectangle(&self) -> bool {
        match (self.outlines(), self.area) {
            ([outline], Some(area)) => outline.contains(&area),
            _ => false,
        }
    }

    /// Returns the outlines; none if they are not simple.
    pub(super) fn outlines(&self) -> &[Outline] {
        if self.is_complex {
            &[]
        } else {
            &self.outlines[..self.count]
        }
    }

    pub(super) fn clear(&mut self) {
        self.area = None;
        self.count = 0;
        self.is_complex = false;
    }
}

impl Outline {
    /// Returns whether the whole of a rectangle is on the inner side of every line: the outline contains it, and so does
    /// its shape if it bulges between the points.
    pub(crate) fn contains(&self, area: &Area) -> bool {
        let [left, bottom, right, top] = area.0;
        let corners = [(left, bottom), (right, bottom), (right, top), (left, top)];
        let Self(points) = self;
        let mut sides = points.iter().zip(points.iter().cycle().skip(1));
        let mut inner = 0.0_f64;
        points.len() > 2
            && sides.all(|(from, to)| {
                corners.iter().all(|corner| {
                    let side = (to.0 - from.0) * (corner.1 - from.1) - (to.1 - from.1) * (corner.0 - from.0);
                    let is_on_line = side.abs() < TOLERANCE;
                    if inner == 0.0 && !is_on_line {
                        inner = side.signum();
                    }
                    is_on_line || side * inner > 0.0
                })
            })
    }

    /// Returns the number of its points.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(points: &[(f64, f64)]) -> Outline {
        Outline(points.to_vec())
    }

    #[test]
    fn an_outline_contains_what_is_inside_of_all_lines() {
        let inner = Area([2.0, 2.0, 8.0, 8.0]);
        let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        let mut reversed = square;
        reversed.reverse();
        assert!(outline(&square).contains(&inner) && outline(&reversed).contains(&inner));
        assert!(outline(&square).contains(&Area([0.0, 0.0, 10.0, 10.0])));
        assert!(!outline(&square).contains(&Area([2.0, 2.0, 11.0, 8.0])));
        // Its corners are cut off.
        let diamond = [(5.0, 0.0), (10.0, 5.0), (5.0, 10.0), (0.0, 5.0)];
        assert!(!outline(&diamond).contains(&Area([1.0, 1.0, 9.0, 9.0])));
        assert!(outline(&diamond).contains(&Area([4.0, 4.0, 6.0, 6.0])));
        let with_notch = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (5.0, 3.0), (0.0, 10.0)];
        assert!(!outline(&with_notch).contains(&inner));
        assert!(!outline(&square[..2]).contains(&inner));
    }

    #[test]
    fn paths_with_many_points_or_outlines_have_no_simple_shape() {
        let mut path = Path::default();
        path.build(b"m", &[0.0, 0.0], Matrix::IDENTITY);
        for step in 1..MAX_POINTS {
            path.build(b"l", &[step as f64, 1.0], Matrix::IDENTITY);
        }
        assert_eq!(path.outlines().len(), 1);
        path.build(b"l", &[1.0, 1.0], Matrix::IDENTITY);
        assert!(path.outlines().is_empty() && path.area().is_some());
        path.clear();
        for count in 1..=MAX_OUTLINES {
            path.build(b"re", &[0.0, 0.0, 1.0, 1.0], Matrix::IDENTITY);
            assert_eq!(path.outlines().len(), count);
        }
        path.build(b"re", &[0.0, 0.0, 1.0, 1.0], Matrix::IDENTITY);
        assert!(path.outlines().is_empty());
    }
}
