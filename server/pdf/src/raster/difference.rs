//! Compares images of two pages.

use super::Picture;

/// Largest difference of a colour component at which two pixels count as equal. It is invisible.
const TOLERANCE: u8 = 16;
/// How pale the copy is on which changes are marked: a quarter of its contrast is left.
const PALENESS: u8 = 4;
const CHANGED: [u8; 3] = [0xd0, 0x10, 0x10];
const WHITE: [u8; 3] = [255; 3];

/// What differs between two images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of pixels that differ. Where only one of the images has a pixel, it differs.
    pub changed: usize,
    /// A pale copy of the second image with these pixels in red, large enough for both.
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
            let is_same = match (old, new) {
                (Some(old), Some(new)) => old.iter().zip(new).all(|(old, new)| old.abs_diff(new) <= TOLERANCE),
                // In the corner that neither image reaches.
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            pixels.extend(if is_same { pale(new.unwrap_or(WHITE)) } else { CHANGED });
            changed += usize::from(!is_same);
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

/// Returns a light grey for a colour, so that only changes have one.
fn pale([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let grey = (2 * u32::from(red) + 5 * u32::from(green) + u32::from(blue)) / 8;
    let grey = u8::try_from(grey).unwrap_or(u8::MAX);
    [u8::MAX - (u8::MAX - grey) / PALENESS; 3]
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
        assert_eq!(found.picture, plain(3, 2, [192; 3]));
        assert_eq!(difference(&plain(1, 1, WHITE), &plain(1, 1, [240; 3])).changed, 0);
        assert_eq!(difference(&plain(1, 1, WHITE), &plain(1, 1, [238; 3])).changed, 1);
    }

    #[test]
    fn changed_pixels_are_red() {
        let before = plain(2, 1, WHITE);
        let mut after = before.clone();
        after.pixels[3..].copy_from_slice(&[0, 0, 255]);
        let found = difference(&before, &after);
        assert_eq!(found.changed, 1);
        assert_eq!(found.picture.pixels, [WHITE, CHANGED].concat());
    }

    #[test]
    fn images_of_different_sizes_differ_where_only_one_has_pixels() {
        let found = difference(&plain(2, 1, WHITE), &plain(1, 3, WHITE));
        assert_eq!((found.picture.width, found.picture.height), (2, 3));
        assert_eq!(found.changed, 3);
        assert_eq!(&found.picture.pixels[3..6], CHANGED);
        // The corner.
        assert_eq!(&found.picture.pixels[9..12], WHITE);
    }
}
