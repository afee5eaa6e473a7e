//! Page setup: page size, orientation and margins.

use serde::Deserialize;
use strum::IntoStaticStr;

const MM_PER_INCH: f64 = 25.4;
/// Pages of PDF/A measure 3 to 14,400 pt per side (ISO 19005-2, 6.1.13); 200 in are 14,400 pt, and nobody needs less
/// than 3 mm.
const SMALLEST_SIDE: f64 = 3.0 / MM_PER_INCH;
const LARGEST_SIDE: f64 = 200.0;
/// Anything smaller than one point is not printable.
const SMALLEST_PRINTABLE: f64 = 1.0 / 72.0;
/// Tolerance for converted lengths, so that 5080 mm equal 200 in.
const ROUNDING: f64 = 1e-9;

/// A unit of length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Millimetres.
    #[default]
    Mm,
    /// Centimetres.
    Cm,
    /// Inches.
    In,
    /// CSS pixels, 1/96 in.
    Px,
}

impl Unit {
    /// Converts a length in this unit to inches.
    pub fn to_inches(self, length: f64) -> f64 {
        match self {
            Self::Mm => length / MM_PER_INCH,
            Self::Cm => length * 10.0 / MM_PER_INCH,
            Self::In => length,
            Self::Px => length / 96.0,
        }
    }
}

/// A named page size: ISO 216 A0 to A10, and the ANSI sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    A0,
    A1,
    A2,
    A3,
    #[default]
    A4,
    A5,
    A6,
    A7,
    A8,
    A9,
    A10,
    Letter,
    Legal,
    Tabloid,
    Ledger,
}

impl Paper {
    /// Returns width and height in portrait orientation, in inches. Ledger is tabloid turned sideways, so it is wider
    /// than high even in portrait orientation.
    pub fn inches(self) -> (f64, f64) {
        let millimetres = |width: f64, height: f64| (width / MM_PER_INCH, height / MM_PER_INCH);
        match self {
            Self::A0 => millimetres(841.0, 1189.0),
            Self::A1 => millimetres(594.0, 841.0),
            Self::A2 => millimetres(420.0, 594.0),
            Self::A3 => millimetres(297.0, 420.0),
            Self::A4 => millimetres(210.0, 297.0),
            Self::A5 => millimetres(148.0, 210.0),
            Self::A6 => millimetres(105.0, 148.0),
            Self::A7 => millimetres(74.0, 105.0),
            Self::A8 => millimetres(52.0, 74.0),
            Self::A9 => millimetres(37.0, 52.0),
            Self::A10 => millimetres(26.0, 37.0),
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::Ledger => (17.0, 11.0),
        }
    }
}

/// The option `size`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Size {
    Named(Paper),
    Custom {
        /// In `unit`.
        width: f64,
        /// In `unit`.
        height: f64,
        /// Millimetres by default.
        #[serde(default)]
        unit: Unit,
    },
}

impl Default for Size {
    fn default() -> Self {
        Self::Named(Paper::default())
    }
}

impl Size {
    /// Returns width and height in portrait orientation, in inches.
    pub fn inches(self) -> (f64, f64) {
        match self {
            Self::Named(paper) => paper.inches(),
            Self::Custom { width, height, unit } => (unit.to_inches(width), unit.to_inches(height)),
        }
    }

    /// Returns the sides that are out of bounds, each with a message.
    pub fn problems(self) -> Vec<(&'static str, String)> {
        let Self::Custom { width, height, unit } = self else {
            return Vec::new();
        };
        let bounds = SMALLEST_SIDE - ROUNDING..=LARGEST_SIDE + ROUNDING;
        [("width", width), ("height", height)]
            .into_iter()
            .filter(|(_, side)| !bounds.contains(&unit.to_inches(*side)))
            .map(|(name, side)| {
                (
                    name,
                    format!("Must be from 3 mm to 200 in; got {side} {}", unit.into_str()),
                )
            })
            .collect()
    }
}

/// The option `margin`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Margin {
    /// In `unit`, like the others.
    pub top: f64,
    /// See `top`.
    pub right: f64,
    /// See `top`.
    pub bottom: f64,
    /// See `top`.
    pub left: f64,
    /// Millimetres by default.
    #[serde(default)]
    pub unit: Unit,
}

/// The option `orientation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Orientation {
    /// Width and height as given.
    #[default]
    Portrait,
    /// Width and height swapped.
    Landscape,
}

/// The page setup after applying the orientation, in inches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    pub width: f64,
    pub height: f64,
    /// Top, right, bottom, left.
    pub margins: [f64; 4],
}

impl Sheet {
    /// Applies the orientation to the page size; the margins stay on their sides.
    pub fn new(size: Size, margin: Margin, orientation: Orientation) -> Self {
        let (width, height) = match (orientation, size.inches()) {
            (Orientation::Portrait, upright) => upright,
            (Orientation::Landscape, (width, height)) => (height, width),
        };
        Self {
            width,
            height,
            margins: [margin.top, margin.right, margin.bottom, margin.left].map(|side| margin.unit.to_inches(side)),
        }
    }

    /// Returns a message if the margins leave no printable area.
    pub fn margin_problem(&self) -> Option<String> {
        let [top, right, bottom, left] = self.margins;
        let fits = |room: f64| room >= SMALLEST_PRINTABLE - ROUNDING;
        if fits(self.width - left - right) && fits(self.height - top - bottom) {
            return None;
        }
        Some(format!(
            "Must leave room for content: left and right take {:.2} of {:.2} in, top and bottom {:.2} of {:.2} in",
            left + right,
            self.width,
            top + bottom,
            self.height
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(width: f64, height: f64, unit: Unit) -> Size {
        Size::Custom { width, height, unit }
    }

    #[test]
    fn units_measure_the_same_length() {
        for (unit, length) in [(Unit::Mm, 25.4), (Unit::Cm, 2.54), (Unit::In, 1.0), (Unit::Px, 96.0)] {
            assert!((unit.to_inches(length) - 1.0).abs() < 1e-12, "{unit:?}");
        }
    }

    #[test]
    fn landscape_swaps_every_size_and_leaves_the_margins() {
        let margin = Margin {
            top: 10.0,
            right: 20.0,
            bottom: 30.0,
            left: 40.0,
            unit: Unit::Mm,
        };
        for size in [
            Size::Named(Paper::A4),
            Size::Named(Paper::Ledger),
            custom(50.0, 20.0, Unit::Mm),
        ] {
            let portrait = Sheet::new(size, margin, Orientation::Portrait);
            let landscape = Sheet::new(size, margin, Orientation::Landscape);
            assert_eq!((landscape.width, landscape.height), (portrait.height, portrait.width));
            for (side, length) in landscape.margins.into_iter().zip([10.0, 20.0, 30.0, 40.0]) {
                assert!((side - length / 25.4).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn sides_are_bounded() {
        let sound = [
            custom(3.0, 5080.0, Unit::Mm),
            custom(0.3, 508.0, Unit::Cm),
            custom(200.0, 200.0, Unit::In),
            custom(19200.0, 11.4, Unit::Px),
            Size::Named(Paper::A0),
            Size::Named(Paper::A10),
        ];
        for size in sound {
            assert_eq!(size.problems(), [], "{size:?}");
        }
        for (size, sides) in [
            (custom(2.9, 100.0, Unit::Mm), vec!["width"]),
            (custom(100.0, 5081.0, Unit::Mm), vec!["height"]),
            (custom(0.0, -1.0, Unit::In), vec!["width", "height"]),
            (custom(1e300, 11.0, Unit::Px), vec!["width", "height"]),
        ] {
            let names: Vec<_> = size.problems().into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, sides, "{size:?}");
        }
    }

    #[test]
    fn margins_are_held_against_the_turned_paper() {
        let wide = Margin {
            right: 110.0,
            left: 110.0,
            ..Margin::default()
        };
        let a4 = |orientation| Sheet::new(Size::default(), wide, orientation).margin_problem();
        assert!(a4(Orientation::Portrait).is_some());
        assert_eq!(a4(Orientation::Landscape), None);
        let exact = Margin {
            right: 105.0,
            left: 105.0,
            ..Margin::default()
        };
        assert!(
            Sheet::new(Size::default(), exact, Orientation::Portrait)
                .margin_problem()
                .is_some()
        );
    }
}
