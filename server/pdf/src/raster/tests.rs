use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::*;

const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");
const HUGE: &[u8] = include_bytes!("../../tests/fixtures/page-huge.pdf");
const TABLE: &[u8] = include_bytes!("../../tests/fixtures/table.pdf");

fn view(page: usize, dots_per_inch: u16) -> PageView {
    PageView { page, dots_per_inch }
}

/// Returns a document of one small page with an additional object in its resources.
fn with_object(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let length = data.len();
    let objects: [&[u8]; 4] = [
        b"<</Type/Catalog /Pages 2 0 R>>",
        b"<</Type/Pages /Kids[3 0 R] /Count 1>>",
        b"<</Type/Page /Parent 2 0 R /MediaBox[0 0 90 90] /Resources<</XObject<</X 4 0 R>>>>>>",
        &[
            format!("<<{dictionary} /Length {length}>>\nstream\n").as_bytes(),
            data,
            b"\nendstream",
        ]
        .concat(),
    ];
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = "xref\n0 5\n0000000000 65535 f \n".to_owned();
    for (index, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let number = index + 1;
        file.extend_from_slice(&[format!("{number} 0 obj\n").as_bytes(), object, b"\nendobj\n"].concat());
    }
    let start = file.len();
    file.extend_from_slice(format!("{table}trailer\n<</Size 5 /Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").as_bytes());
    file
}

fn drawn(pdf: &[u8], page: usize, dots_per_inch: u16) -> Picture {
    rasterise(pdf, view(page, dots_per_inch)).expect("a picture")
}

#[test]
fn an_empty_page_is_white_and_as_large_as_asked() {
    for (dots_per_inch, width, height) in [(72, 612, 792), (96, 816, 1056), (1, 9, 11), (0, 1, 1)] {
        let picture = drawn(EMPTY, 1, dots_per_inch);
        assert_eq!((picture.width, picture.height), (width, height));
        assert_eq!(picture.pixels, vec![255; width * height * 3]);
    }
}

#[test]
fn the_longer_side_of_a_thumbnail_has_the_requested_length() {
    let page = |width: u32, height: u32| {
        let small = String::from_utf8(with_object("", b"")).expect("text");
        small.replace("[0 0 90 90]", &format!("[0 0 {width} {height}]"))
    };
    // All sizes have two digits, so that no offset in the file changes.
    for (width, height, expected) in [(90, 45, (240, 120)), (30, 90, (80, 240)), (90, 10, (240, 27))] {
        let picture = thumbnail(page(width, height).as_bytes(), 1, 240).expect("a picture");
        assert_eq!((picture.width, picture.height), expected);
    }
}

#[test]
fn text_and_colours_are_drawn() {
    let picture = drawn(TABLE, 1, 96);
    let dark = picture
        .pixels
        .chunks(3)
        .filter(|pixel| pixel.iter().all(|value| *value < 100));
    assert!(dark.count() > 1_000);
    assert_eq!(picture.pixels[..3], [255; 3]);
    let last = drawn(TABLE, 2, 96);
    assert_ne!(picture, last);
}

#[test]
fn a_png_holds_the_same_pixels() {
    let picture = drawn(TABLE, 1, 40);
    let mut reader = png::Decoder::new(Cursor::new(picture.to_png()))
        .read_info()
        .expect("a PNG");
    let mut pixels = vec![0; picture.pixels.len()];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(
        (frame.width as usize, frame.height as usize),
        (picture.width, picture.height)
    );
    assert_eq!(pixels, picture.pixels);
}

#[test]
fn pages_that_are_not_there_are_refused() {
    for page in [0, 2, usize::MAX] {
        let error = RasterError::NoSuchPage { page, page_count: 1 };
        assert_eq!(rasterise(EMPTY, view(page, 96)), Err(error));
    }
}

#[test]
fn pictures_beyond_the_limits_are_refused() {
    let error = RasterError::TooManyPixels {
        width: 38_400,
        height: 38_400,
    };
    assert_eq!(rasterise(HUGE, view(1, 96)), Err(error));
    assert!(rasterise(EMPTY, view(1, u16::MAX)).is_err());
}

#[test]
fn pages_that_draw_too_much_are_refused() {
    let too_much = Err(RasterError::TooMuchContent { page: 1 });
    let few = with_object("/Subtype/Image /Width 1000 /Height 1000", b"x");
    assert!(rasterise(&few, view(1, 10)).is_ok());
    let many = with_object("/Subtype/Image /Width 100000 /Height 100000", b"x");
    assert_eq!(rasterise(&many, view(1, 10)), too_much);

    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let blanks = vec![b' '; MAX_CONTENT as usize + 1];
    encoder.write_all(&blanks).expect("memory");
    let bomb = encoder.finish().expect("memory");
    assert!(bomb.len() < 1 << 20);
    let bomb = with_object("/Subtype/Form /Filter/FlateDecode", &bomb);
    assert_eq!(rasterise(&bomb, view(1, 10)), too_much);
}

#[test]
fn damage_is_an_error() {
    let error = rasterise(&TABLE[..TABLE.len() / 2], view(1, 96));
    assert!(
        matches!(error, Err(RasterError::Pdf(PdfError::Damaged { .. }))),
        "{error:?}"
    );
}
