//! Compares images of two pages.

use super::Picture;

/// Largest difference of a colour component at which two pixels count as equal. It is invisible.
const TOLERANCE: u8 = 16;
/// How much of the contrast is left of what is the same, in per cent.
const CONTRAST: u32 = 30;
/// Also distinguishable by brightness.
const REMOVED: [u8; 3] = [0xc0, 0x00, 0x10];
const ADDED: [u8; 3] = [0x10, 0xb8, 0x6a];
const WHITE: [u8; 3] = [255; 3];

/// What differs between two images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of pixels that differ. Where only one of the images has a pixel, it differs.
    pub changed: usize,
    /// A pale grey copy of the second image, large enough for both. Pixels that became lighter are red, as removed ink,
    /// and all other pixels that differ are green.
    pub picture: Picture,
}

/// Compares two images pixel by pixel, from the upper left corner.
pub fn difference(before: &Picture, after: &Picture) -> Difference {
    let (width, height) = (before.width.max(after.width), before.height.max(after.height));
    let mut pixels = Vec::with_capacity(3 * width * height);
    let mut changed = 0;
    for row in 0..height {
        for column in 0..width {
            let (old, new) = (before.pixel(column, row), after.pixel(column, row));
            let mark = match (old, new) {
                (Some(old), Some(new)) if is_same(old, new) => None,
                (Some(old), Some(new)) if brightness(new) > brightness(old) => Some(REMOVED),
                // In the corner that neither image reaches.
                (None, None) => None,
                (Some(_), None) => Some(REMOVED),
                (_, Some(_)) => Some(ADDED),
            };
            pixels.extend(mark.unwrap_or_else(|| pale(new.unwrap_or(WHITE))));
            changed += usize::from(mark.is_some());
        }
    }
    Difference {
        changed,
        picture: Picture { width, height, pixels },
    }
}

impl Picture {
    fn pixel(&self, column: usize, row: usize) -> Option<[u8; 3]> {
        if column >= self.width || row >= self.height {
            return None;
        }
        let from = 3 * (row * self.width + column);
        self.pixels.get(from..from + 3)?.try_into().ok()
    }
}

fn is_same(old: [u8; 3], new: [u8; 3]) -> bool {
    old.iter().zip(new).all(|(old, new)| old.abs_diff(new) <= TOLERANCE)
}

/// Returns a light grey for a colour, so that only changes have one.
fn pale(colour: [u8; 3]) -> [u8; 3] {
    let darkness = (u32::from(u8::MAX) - brightness(colour)) * CONTRAST / 100;
    [u8::MAX - u8::try_from(darkness).unwrap_or(u8::MAX); 3]
}

/// Returns the grey that is as bright as a colour, from 0 to 255.
fn brightness([red, green, blue]: [u8; 3]) -> u32 {
    (2 * u32::from(red) + 5 * u32::from(green) + u32::from(blue)) / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: usize, height: usize, colour: [u8; 3]) -> Picture {
        Picture {
            width,
            height,
            pixels: colour.repeat(width * height),
        }
    }

    #[test]
    fn equal_images_are_a_pale_copy() {
        let black = plain(3, 2, [0; 3]);
        let found = difference(&black, &black);
        assert_eq!(found.changed, 0);
        assert_eq!(found.picture, plain(3, 2, [179; 3]));
        assert_eq!(difference(&plain(1, 1, WHITE), &plain(1, 1, [240; 3])).changed, 0);
        assert_eq!(difference(&plain(1, 1, WHITE), &plain(1, 1, [238; 3])).changed, 1);
    }

    #[test]
    fn removed_ink_is_red_and_added_ink_green() {
        let design = [0xd0, 0x10, 0x10];
        let before = [WHITE, design, design, [0, 0, 255]].concat();
        let after = [design, WHITE, design, [0, 0, 200]].concat();
        let image = |pixels| Picture {
            width: 4,
            height: 1,
            pixels,
        };
        let found = difference(&image(before), &image(after));
        assert_eq!(found.changed, 3);
        // A red design is grey where it is the same.
        assert_eq!(found.picture.pixels, [ADDED, REMOVED, pale(design), ADDED].concat());
        assert_eq!(pale(design), [198; 3]);
    }

    #[test]
    fn images_of_different_sizes_differ_where_only_one_has_pixels() {
        let found = difference(&plain(2, 1, WHITE), &plain(1, 3, WHITE));
        assert_eq!((found.picture.width, found.picture.height), (2, 3));
        assert_eq!(found.changed, 3);
        assert_eq!(&found.picture.pixels[3..6], REMOVED);
        assert_eq!(&found.picture.pixels[6..9], ADDED);
        // The corner.
        assert_eq!(&found.picture.pixels[9..12], WHITE);
    }
}
