//! Parses, checks, joins, stamps, selects and completes arbitrary bytes. Nothing may panic or run endlessly, and the
//! output can be completed again.
#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use platen_pdf::{
    Assembly, OutputFormat, PageFacts, PageSelection, PrintedPart, StampLayout, Stamps, Watermark, assemble,
    check::examine, complete, inspect::inspect,
};
use time::OffsetDateTime;

/// A valid part.
const NOTE: &[u8] = include_bytes!("../../tests/fixtures/note.pdf");
const JOINED: u8 = 1;
const STAMPED: u8 = 2;
const SELECTED: u8 = 4;
const PLAIN: u8 = 8;
const MARKED: u8 = 16;
const COLUMN: u8 = 32;

fuzz_target!(|bytes: &[u8]| {
    // The last byte selects the options, so that any PDF is a seed without changes.
    let Some(choice) = bytes.last() else { return };
    let chosen = |bit: u8| choice & bit != 0;
    let part = |bytes| PrintedPart {
        bytes: Cow::Borrowed(bytes),
        facts: PageFacts::default(),
    };
    let mut parts = vec![part(bytes)];
    if chosen(JOINED) {
        parts.push(part(NOTE));
    }
    let assembly = Assembly {
        parts,
        stamps: chosen(STAMPED)
            .then(|| Stamps {
                bytes,
                layout: if chosen(COLUMN) { StampLayout::Column { pitch: 800.0 } } else { StampLayout::Pages },
                pages: vec![1],
            })
            .into_iter()
            .collect(),
        page_limit: usize::MAX,
        selection: chosen(SELECTED).then(|| PageSelection::parse("1")).and_then(Result::ok),
        watermark: chosen(MARKED).then_some(Watermark::Test),
        format: if chosen(PLAIN) { OutputFormat::Pdf } else { OutputFormat::PdfA2b },
        instant: OffsetDateTime::UNIX_EPOCH,
    };
    let _ = examine(bytes);
    let _ = inspect(bytes);
    let (format, instant) = (assembly.format, assembly.instant);
    if let Ok(made) = assemble(assembly) {
        let again = complete(&made.bytes, &PageFacts::default(), format, instant);
        assert!(again.is_ok(), "{again:?}");
    }
});
