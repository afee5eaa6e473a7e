//! Pictures are examined, because their first bytes can be followed by anything.

use std::io::Cursor;

use image::{ImageDecoder, ImageReader, metadata::Orientation};
use platen_domain::asset::properties::PictureSize;

/// Maximum number of pixels. A browser needs four bytes for each, and this process up to eight.
const MOST_PIXELS: u64 = 64_000_000;

/// Decodes a picture, of an animation its first frame. Returns its size as browsers show it.
pub(super) fn examine(content: &[u8]) -> Result<PictureSize, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("The picture is damaged: {error}");
    let mut reader = ImageReader::new(Cursor::new(content))
        .with_guessed_format()
        .map_err(|error| damaged(&error))?;
    // The number of pixels bounds the memory.
    reader.no_limits();
    let mut decoder = reader.into_decoder().map_err(|error| damaged(&error))?;
    let (width, height) = decoder.dimensions();
    check_pixels(width, height)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let bytes = usize::try_from(decoder.total_bytes()).map_err(|error| damaged(&error))?;
    let mut pixels = vec![0; bytes];
    decoder.read_image(&mut pixels).map_err(|error| damaged(&error))?;
    Ok(match orientation {
        // Browsers turn pictures as their metadata says.
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH => {
            PictureSize {
                width: height,
                height: width,
            }
        }
        _ => PictureSize { width, height },
    })
}

/// Parses an AVIF picture as far as the sequence header of AV1, which holds its size. Decoders of AV1 take damaged data for
/// pixels, so that decoding would not say more. Orientations that the container adds are ignored.
/// `None` for animations and grids, whose size the parser doesn't find.
pub(super) fn examine_avif(content: &[u8]) -> Result<Option<PictureSize>, String> {
    let damaged = |error: avif_parse::Error| format!("The picture is damaged: {error}");
    let parsed = match avif_parse::read_avif(&mut &*content) {
        Err(avif_parse::Error::Unsupported(_)) => return Ok(None),
        parsed => parsed.map_err(damaged)?,
    };
    let header = parsed.primary_item_metadata().map_err(damaged)?;
    let (width, height) = (header.max_frame_width.get(), header.max_frame_height.get());
    check_pixels(width, height)?;
    Ok(Some(PictureSize { width, height }))
}

fn check_pixels(width: u32, height: u32) -> Result<(), String> {
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        let most = MOST_PIXELS / 1_000_000;
        return Err(format!(
            "Pictures have at most {most} million pixels; this one has {width} × {height}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, rows: u32) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        let mut stream = writer.stream_writer().unwrap();
        let row = vec![0; width as usize];
        for _ in 0..rows {
            std::io::Write::write_all(&mut stream, &row).unwrap();
        }
        drop(stream);
        drop(writer);
        file
    }

    #[test]
    fn pictures_are_decoded() {
        assert_eq!(examine(&png(3, 2, 2)), Ok(PictureSize { width: 3, height: 2 }));
        let whole = png(64, 64, 64);
        for damaged in [
            &whole[..whole.len() / 2],
            b"GIF89a/*",
            b"\xFF\xD8\xFF\xE0",
            b"RIFF\0\0\0\0WEBPVP8 ",
        ] {
            let reason = examine(damaged).unwrap_err();
            assert!(reason.starts_with("The picture is damaged: "), "{reason}");
        }
    }

    #[test]
    fn avif_is_parsed_up_to_its_size() {
        let file = include_bytes!("../tests/six-by-four.avif");
        assert_eq!(examine_avif(file), Ok(Some(PictureSize { width: 6, height: 4 })));
        for damaged in [&b"\0\0\0\x1cftypavif"[..], b"\0\0\0\x0cftypavif\xff\xff\xff\xff"] {
            let reason = examine_avif(damaged).unwrap_err();
            assert!(reason.starts_with("The picture is damaged: "), "{reason}");
        }
        let reason = examine_avif(include_bytes!("../tests/81-million-pixels.avif")).unwrap_err();
        assert_eq!(
            reason,
            "Pictures have at most 64 million pixels; this one has 9000 × 9000"
        );
    }

    #[test]
    fn pictures_with_too_many_pixels_are_not_decoded() {
        let reason = examine(&png(20_000, 20_000, 1)).unwrap_err();
        assert_eq!(
            reason,
            "Pictures have at most 64 million pixels; this one has 20000 × 20000"
        );
    }
}
