//! Packed files unpack to the original, and files packed differently are refused.

use std::ops::Range;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use time::OffsetDateTime;

use super::pack::{Compressor, differences, open_entry};
use super::unpack::{open_places, read_cross_references};
use super::*;
use crate::check::examine;
use crate::content::StreamReader;
use crate::document::Document;
use crate::file::table_offset;
use crate::inspect::inspect;
use crate::parse::parse_indirect_object;
use crate::written_file::write_document;
use crate::{Completed, OutputFormat, PageFacts, PdfError, complete};

const FIXTURES: [&[u8]; 4] = [
    include_bytes!("../../tests/fixtures/empty.pdf"),
    include_bytes!("../../tests/fixtures/graphics.pdf"),
    include_bytes!("../../tests/fixtures/links.pdf"),
    include_bytes!("../../tests/fixtures/table.pdf"),
];

/// Unpacks a completed document, to read its objects.
pub(crate) fn in_the_open(completed: Completed) -> Completed {
    let bytes = unpack(&completed.bytes).expect("packed as we do").into_owned();
    Completed { bytes, ..completed }
}

/// Packs a file's objects into object streams.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let document = Document::open(&[bytes]).expect("a file that is whole");
    let mut trailer = document.trailer();
    trailer.remove("Size");
    pack(&write_document(document, &[], trailer).expect("a document that can be written")).expect("a small file")
}

fn completed(bytes: &[u8]) -> Result<Completed, PdfError> {
    let facts = PageFacts::default();
    complete(bytes, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH)
}

fn archived(bytes: &[u8]) -> Vec<u8> {
    completed(bytes).expect("a document that can be completed").bytes
}

fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

#[test]
fn documents_are_packed_and_unpacked() {
    for fixture in FIXTURES {
        let archive = archived(fixture);
        let open = unpack(&archive).expect("packed as we do");
        assert!(archive.len() < open.len());
        assert!(contains(&open, "/Type /Catalog") && !contains(&archive, "/Type /Catalog"));
        // Programs that can't read PDF search for it.
        assert!(contains(&archive, "<pdfaid:part>2"));
        assert!(packed(&open) == archive);
        assert!(unpack(&open).expect("nothing packed") == open);
        assert!(archived(&archive) == archive && archived(&open) == archive);
        assert_eq!(inspect(&archive), inspect(&open));
    }
    // Several object streams.
    let archive = archived(FIXTURES[3]);
    let streams = memchr::memmem::find_iter(&archive, b"/Type /ObjStm").count();
    assert!(streams > 1);
    assert!(archive.len() < FIXTURES[3].len() * 2 / 3);
}

#[test]
fn streams_and_references_stay_in_the_open() {
    let mut document = Document::open(&[FIXTURES[0]]).expect("a file that is whole");
    let text = document.add(Object::String(b"packed".into()));
    let reference = document.add(Object::Reference(text));
    let stream = document.add(Object::Stream(Stream::plain(Dictionary::default(), b"data".as_slice())));
    let trailer = Dictionary::new([("Root", Object::Reference(document.root().expect("a catalog")))]);
    let file = write_document(document, &[], trailer).expect("a document that can be written");
    let packed = pack(&file).expect("a small file");
    assert!(!contains(&packed, "(packed)"));
    assert!(contains(&packed, &format!("{reference} 0 obj\n{text} 0 R\nendobj")));
    assert!(contains(
        &packed,
        &format!("{stream} 0 obj\n<</Length 4>> stream\ndata\nendstream")
    ));
    assert!(*unpack(&packed).expect("packed as we do") == *file.bytes);
}

#[test]
fn what_is_packed_otherwise_is_refused() {
    let archive = archived(FIXTURES[2]);
    for (from, to) in [
        ("/Type /ObjStm\n/N", "/Type /ObjStm /N"),
        ("/ObjStm", "/ObjStn"),
        ("/XRef", "/XRex"),
        ("/W [1 4 1]", "/W [1 2 3]"),
        ("/Predictor 12", "/Predictor 15"),
        ("/Columns 6", "/Columns 7"),
        (">> stream\nx", ">> stream\r\nx"),
        ("\nendstream\nendobj\nstartxref", " endstream\nendobj\nstartxref"),
        ("\nstartxref", " startxref"),
        ("%%EOF\n", "%%EOF\nmore"),
        ("/Size ", "/Size 1"),
        ("/Root ", "/Encrypt 1 0 R\n/Root "),
        ("/Root ", "/Prev 15\n/Root "),
        ("/Root ", "/Index [0 5]\n/Root "),
        ("/FlateDecode", "/LZWDecode"),
    ] {
        // The last occurrence is in the object streams.
        let at = memchr::memmem::rfind(&archive, from.as_bytes()).expect("something to replace");
        let spoilt = [&archive[..at], to.as_bytes(), &archive[at + from.len()..]].concat();
        assert!(examine(&spoilt).is_err(), "{from:?} → {to:?}");
        assert!(
            matches!(completed(&spoilt), Err(PdfError::Damaged { .. })),
            "{from:?} → {to:?}"
        );
    }
}

/// A packed file, split into its parts.
#[derive(Debug, Clone)]
struct Pieces {
    /// The file up to the object streams.
    start: Vec<u8>,
    /// Number of objects, offset of the first one, and data of each object stream.
    streams: Vec<(usize, usize, Vec<u8>)>,
    /// All entries except those of the object streams and of the cross-reference stream.
    entries: Vec<Entry>,
    trailer: Dictionary<'static>,
}

impl Pieces {
    fn of(packed: &'static [u8]) -> Self {
        let table = table_offset(packed).expect("a whole file");
        let (mut entries, trailer) = read_cross_references(packed, table).expect("packed as we do");
        let places = open_places(&entries, table).expect("in order");
        let is_object_stream = |place: &Range<usize>| contains(&packed[place.clone()], "/Type /ObjStm");
        let object_streams: Vec<Range<usize>> = places
            .into_iter()
            .map(|(_, place)| place)
            .filter(is_object_stream)
            .collect();
        let streams = object_streams.iter().map(|place| {
            let Ok(Object::Stream(stream)) = parse_indirect_object(packed, place.start, place.end) else {
                panic!("expected an object stream")
            };
            let mut data = Vec::new();
            StreamReader::default().read(&stream, &mut data).expect("readable");
            let number = |key| {
                stream
                    .dictionary
                    .get(key)
                    .and_then(Object::as_integer)
                    .expect("a number") as usize
            };
            (number("N"), number("First"), data)
        });
        entries.truncate(entries.len() - object_streams.len() - 1);
        Self {
            start: packed[..object_streams[0].start].to_vec(),
            streams: streams.collect(),
            entries,
            trailer,
        }
    }

    /// Joins the parts into a correctly framed file.
    fn join(self) -> Vec<u8> {
        let (mut output, mut entries) = (self.start, self.entries);
        let mut compressor = Compressor::default();
        for (count, first, data) in &self.streams {
            let number = entries.len() as ObjectNumber;
            entries.push(open_entry(output.len()).expect("a small file"));
            write_object_stream(&mut output, number, *count, *first, compressor.compress(data));
        }
        let (offset, number) = (output.len(), entries.len() as ObjectNumber);
        entries.push(open_entry(output.len()).expect("a small file"));
        let data = differences(&entries);
        write_cross_references(&mut output, offset, number, self.trailer, compressor.compress(&data));
        output
    }
}

#[derive(Debug, Clone)]
enum Lie {
    Entry { at: Index, entry: Entry },
    Swap { at: Index, with: Index },
    Count { stream: Index, count: usize },
    First { stream: Index, first: usize },
    Data { stream: Index, at: Index, byte: u8 },
    Shorter { stream: Index, length: Index },
    Repeated { stream: Index },
}

impl Lie {
    fn tell(self, pieces: &mut Pieces) {
        let (entries, streams) = (&mut pieces.entries, &mut pieces.streams);
        match self {
            Self::Entry { at, entry } => *at.get_mut(entries) = entry,
            Self::Swap { at, with } => {
                let count = entries.len();
                entries.swap(at.index(count), with.index(count));
            }
            Self::Count { stream, count } => stream.get_mut(streams).0 = count,
            Self::First { stream, first } => stream.get_mut(streams).1 = first,
            Self::Data { stream, at, byte } => {
                let data = &mut stream.get_mut(streams).2;
                if !data.is_empty() {
                    *at.get_mut(data) = byte;
                }
            }
            Self::Shorter { stream, length } => {
                let data = &mut stream.get_mut(streams).2;
                data.truncate(length.index(data.len() + 1));
            }
            Self::Repeated { stream } => streams.push(stream.get(streams).clone()),
        }
    }
}

fn lie() -> impl Strategy<Value = Lie> {
    let index = any::<Index>;
    let entry = prop_oneof![
        Just(Entry::Free),
        (0..60_000_u32).prop_map(|offset| Entry::Open { offset }),
        any::<u32>().prop_map(|offset| Entry::Open { offset }),
        (0..2_000_u32, any::<u8>()).prop_map(|(stream, index)| Entry::Packed { stream, index }),
    ];
    let number = prop_oneof![0..2_000_usize, any::<usize>()];
    let byte = prop_oneof![any::<u8>(), proptest::sample::select(b"0123456789 <>[]()/R\n".to_vec())];
    prop_oneof![
        (index(), entry).prop_map(|(at, entry)| Lie::Entry { at, entry }),
        (index(), index()).prop_map(|(at, with)| Lie::Swap { at, with }),
        (index(), number.clone()).prop_map(|(stream, count)| Lie::Count { stream, count }),
        (index(), number).prop_map(|(stream, first)| Lie::First { stream, first }),
        (index(), index(), byte).prop_map(|(stream, at, byte)| Lie::Data { stream, at, byte }),
        (index(), index()).prop_map(|(stream, length)| Lie::Shorter { stream, length }),
        index().prop_map(|stream| Lie::Repeated { stream }),
    ]
}

static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| archived(FIXTURES[3]));

#[test]
fn pieces_are_what_they_come_from() {
    assert!(Pieces::of(&LARGE).join() == *LARGE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Files with false tables and headers are refused, or read like any other file.
    #[test]
    fn lies_do_no_harm(lies in prop::collection::vec(lie(), 1..4)) {
        let mut pieces = Pieces::of(&LARGE);
        for lie in lies {
            lie.tell(&mut pieces);
        }
        let file = pieces.join();
        match unpack(&file) {
            Ok(open) => prop_assert_eq!(examine(&file).is_ok(), examine(&open).is_ok()),
            Err(PdfError::Damaged { offset, .. }) => prop_assert!(offset <= LARGE.len() * 20),
            Err(error) => prop_assert!(false, "{error}"),
        }
        if let Ok(completed) = completed(&file) {
            prop_assert!(examine(&completed.bytes).is_ok());
        }
    }
}
