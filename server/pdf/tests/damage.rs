//! Damaged files are refused or completed, without taking long or much memory and without ending the process.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use platen_pdf::collection::Collection;
use platen_pdf::raster::{PageView, rasterise};
use platen_pdf::{
    Assembly, Completed, OutputFormat, PageFacts, PageSelection, PdfError, PrintedPart, StampLayout, Stamps, Watermark,
    assemble, complete, page_sizes, unpack,
};
use proptest::prelude::*;
use proptest::sample::Index;
use time::OffsetDateTime;

const FIXTURES: [&[u8]; 6] = [
    include_bytes!("fixtures/empty.pdf"),
    include_bytes!("fixtures/language.pdf"),
    include_bytes!("fixtures/links.pdf"),
    include_bytes!("fixtures/missing-glyphs.pdf"),
    include_bytes!("fixtures/numbers.pdf"),
    include_bytes!("fixtures/report.pdf"),
];
/// The fixtures, and the last of them as it is delivered, with object streams.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let delivered = completed(FIXTURES[FIXTURES.len() - 1]).expect("a whole file").bytes;
    FIXTURES.iter().map(|file| file.to_vec()).chain([delivered]).collect()
});
const FILE_COUNT: usize = FIXTURES.len() + 1;
/// A valid file that damaged ones are joined with.
const WHOLE: &[u8] = include_bytes!("fixtures/letter.pdf");
/// Time limit. A valid file takes some milliseconds, unoptimised and on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes by which a file may grow: metadata, profile and stand-in fonts, and streams that were compressed better
/// before.
const MAX_GROWTH: usize = 64 * 1024;

#[derive(Debug, Clone)]
enum Damage {
    Flip {
        at: Index,
        mask: u8,
    },
    Delete {
        at: Index,
        length: usize,
    },
    Repeat {
        at: Index,
        length: usize,
        times: usize,
    },
    /// Copies a piece over another place.
    Splice {
        from: Index,
        to: Index,
        length: usize,
    },
    Truncate {
        at: Index,
    },
    /// Writes a token of PDF somewhere, which reaches more code than noise does.
    Word {
        at: Index,
        word: &'static [u8],
    },
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let size = bytes.len();
        let piece = |at: &Index, length: usize| {
            let start = at.index(size);
            start..(start + length).min(size)
        };
        match self {
            Self::Flip { at, mask } => bytes[at.index(size)] ^= mask,
            Self::Delete { at, length } => {
                bytes.drain(piece(at, *length));
            }
            Self::Repeat { at, length, times } => {
                let range = piece(at, *length);
                let repeated = bytes[range.clone()].repeat(*times);
                bytes.splice(range, repeated);
            }
            Self::Splice { from, to, length } => {
                let copied = bytes[piece(from, *length)].to_vec();
                bytes.splice(piece(to, *length), copied);
            }
            Self::Truncate { at } => bytes.truncate(at.index(size)),
            Self::Word { at, word } => {
                bytes.splice(piece(at, word.len()), word.iter().copied());
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let words: Vec<&'static [u8]> = vec![
        b"<<",
        b">>",
        b"[",
        b"]",
        b"(",
        b")",
        b"<",
        b"endobj",
        b"stream",
        b"1 0 R",
        b"0 0 R",
        b"99999999 0 R",
        b"/Kids",
        b"/Length 9999999999",
        b"/Prev 1",
        b"-1",
        b"99999999999999999999",
        b"/FlateDecode",
        b"/Type",
        b"%",
    ];
    prop_oneof![
        4 => (at(), 1..=255_u8).prop_map(|(at, mask)| Damage::Flip { at, mask }),
        2 => (at(), 1..200_usize).prop_map(|(at, length)| Damage::Delete { at, length }),
        1 => (at(), 1..50_usize, 2..200_usize).prop_map(|(at, length, times)| Damage::Repeat { at, length, times }),
        2 => (at(), at(), 1..500_usize).prop_map(|(from, to, length)| Damage::Splice { from, to, length }),
        1 => at().prop_map(|at| Damage::Truncate { at }),
        4 => (at(), proptest::sample::select(words)).prop_map(|(at, word)| Damage::Word { at, word }),
    ]
}

fn completed(bytes: &[u8]) -> Result<Completed, PdfError> {
    let facts = PageFacts::default();
    complete(bytes, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH)
}

/// Returns an assembly of a damaged file: alone, joined with a valid file, or joined and also drawn over it; with or
/// without a selection.
fn assembly(bytes: &[u8], choice: usize) -> Assembly<'_> {
    let (parts, is_stamped) = match choice % 3 {
        0 => (vec![bytes], false),
        1 => (vec![WHOLE, bytes, bytes], false),
        _ => (vec![bytes, WHOLE], true),
    };
    let part = |bytes| PrintedPart {
        bytes: Cow::Borrowed(bytes),
        facts: PageFacts {
            title: Some("Title".into()),
            ..PageFacts::default()
        },
    };
    let page_count = page_sizes(&[bytes], usize::MAX).map_or(1, |sizes| sizes[0].len());
    let stamps = Stamps {
        bytes,
        layout: StampLayout::Pages,
        pages: (1..=page_count).collect(),
    };
    Assembly {
        parts: parts.into_iter().map(part).collect(),
        stamps: if is_stamped { vec![stamps] } else { Vec::new() },
        page_limit: usize::MAX,
        selection: PageSelection::parse("1").ok().filter(|_| choice / 3 % 2 == 1),
        watermark: [None, Some(Watermark::Preview)][choice / 6 % 2],
        format: [OutputFormat::PdfA2b, OutputFormat::Pdf][choice / 12 % 2],
        instant: OffsetDateTime::UNIX_EPOCH,
    }
}

const CHOICES: usize = 24;

fn check(bytes: &[u8], choice: usize) -> Result<(), TestCaseError> {
    let assembly = assembly(bytes, choice);
    let sources = assembly.parts.iter().map(|part| &*part.bytes);
    let sources = sources.chain(assembly.stamps.iter().map(|stamps| stamps.bytes));
    let length: usize = sources
        .map(|file| unpack(file).map_or(file.len(), |open| open.len()))
        .sum();
    let start = Instant::now();
    let is_stamped = !assembly.stamps.is_empty();
    match assemble(assembly) {
        Ok(completed) => {
            prop_assert!(completed.page_count > 0);
            prop_assert!(completed.bytes.len() <= length + MAX_GROWTH);
        }
        Err(PdfError::Damaged { offset, .. }) => prop_assert!(offset <= length),
        Err(PdfError::PageSize { page, .. }) => prop_assert!(page > 0),
        Err(PdfError::NotConformant { clause, .. }) => prop_assert!(clause.starts_with('6')),
        // The size of a page can't be read, so the number of pages is unknown.
        Err(PdfError::StampCount { .. }) => prop_assert!(is_stamped),
        Err(error) => prop_assert!(false, "{error}"),
    }
    prop_assert!(start.elapsed() < PATIENCE);
    collect(bytes, length)
}

/// Adds a damaged file to a collection, between valid ones.
fn collect(bytes: &[u8], length: usize) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let mut collection = Collection::new("Title", OffsetDateTime::UNIX_EPOCH);
    prop_assert!(collection.add(WHOLE, "Whole").is_ok());
    match collection.add(bytes, "Damaged") {
        Ok(_) => {
            prop_assert!(collection.add(WHOLE, "Whole").is_ok());
            prop_assert!(collection.finish().is_ok());
        }
        Err(PdfError::Damaged { offset, .. }) => prop_assert!(offset <= length),
        Err(error) => prop_assert!(false, "{error}"),
    }
    prop_assert!(start.elapsed() < PATIENCE);
    Ok(())
}

/// Drawn small, if at all; the test only requires that drawing ends.
const VIEW: PageView = PageView {
    page: 1,
    dots_per_inch: 20,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_do_no_harm(
        file in 0..FILE_COUNT,
        choice in 0..CHOICES,
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut bytes = FILES[file].clone();
        for damage in damages {
            damage.apply(&mut bytes);
        }
        check(&bytes, choice)?;
    }

    /// Damage that doesn't move objects reaches more code.
    #[test]
    fn damage_in_place_does_no_harm(
        file in 0..FILE_COUNT,
        choice in 0..CHOICES,
        changes in prop::collection::vec((any::<Index>(), prop::sample::select(b"0123456789 /<>[]()RfnKP\n#%\\-.".to_vec())), 1..6),
    ) {
        let mut bytes = FILES[file].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes, choice)?;
        let start = Instant::now();
        if let Ok(picture) = rasterise(&bytes, VIEW) {
            prop_assert_eq!(picture.pixels.len(), picture.width * picture.height * 3);
        }
        prop_assert!(start.elapsed() < PATIENCE);
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000), choice in 0..CHOICES) {
        check(&bytes, choice)?;
    }
}

#[test]
fn every_truncation_of_a_small_file_is_refused() {
    let printed = FIXTURES[0];
    let delivered = completed(printed).expect("a whole file").bytes;
    // A printed file is complete once it contains the last digit of the table's offset.
    let needed = printed.len() - b"\n%%EOF\n".len();
    for (whole, needed) in [(printed, needed), (delivered.as_slice(), delivered.len())] {
        for length in 0..needed {
            let result = completed(&whole[..length]);
            assert!(matches!(result, Err(PdfError::Damaged { .. })), "{length} bytes");
        }
    }
}
