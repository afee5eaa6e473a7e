//! Archives with one violation each.

use Change::{Bytes, Content, Entry, Metadata, Profile, State};

use super::{FIXTURES, archived, declared_as_2b, edited, find};
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::parse_indirect_object;

/// A change of the archive of `graphics.html`. Values are in PDF syntax; an empty one removes the entry.
enum Change {
    /// Sets an entry of the first object with this name under this key.
    Entry(&'static str, &'static str, &'static str, &'static str),
    /// Sets an entry of a graphics state.
    State(&'static str, &'static str),
    /// Inserts operators before the others. `FONT` is the name of a font of two-byte codes, `*` stands for 40,000
    /// letters.
    Content(&'static str),
    /// Replaces a text in the metadata.
    Metadata(&'static str, &'static str),
    /// Replaces bytes of the output intent's profile at an offset.
    Profile(usize, &'static [u8]),
    /// Replaces bytes of the file.
    Bytes(&'static [u8], &'static [u8]),
}

/// Violations that veraPDF reports as well, by clause of ISO 19005-2.
const FAULTS: &[(&str, Change)] = &[
    ("6.1.2-1 pdf 1.9", Bytes(b"%PDF-1.7", b"%PDF-1.9")),
    ("6.1.2-1 pdf 2.0", Bytes(b"%PDF-1.7", b"%PDF-2.0")),
    ("6.1.2-2 comment", Bytes(b"\n%\xD3", b"\n%S")),
    ("6.1.3-1 no id", Bytes(b"/ID [", b"/IX [")),
    ("6.1.3-3 more", Bytes(b"%%EOF\n", b"%%EOF\nmore")),
    ("6.1.4-2 table", Bytes(b"\nxref\n0 ", b"\nxref 0 ")),
    ("6.1.6-1 odd", Content("/Span <</ActualText <123>>> BDC EMC")),
    ("6.1.6-2 letters", Content("/Span <</ActualText <12xy>>> BDC EMC")),
    ("6.1.7.1-2 endstream", Bytes(b"\nendstream", b" endstream")),
    ("6.1.7.1-3 file", Entry("Subtype", "Image", "F", "(file.dat)")),
    ("6.1.7.2-1 lzw", Entry("Subtype", "Image", "Filter", "/LZWDecode")),
    ("6.1.8-1 latin name", Entry("Type", "StructElem", "S", "/#E9")),
    ("6.1.9-1 obj", Bytes(b" 0 obj\n", b" 0 obj ")),
    ("6.1.9-1 endobj", Bytes(b"\nendobj", b" endobj")),
    (
        "6.1.10-1 inline lzw",
        Content("BI /W 1 /H 1 /BPC 8 /CS /G /F /LZW ID x\nEI"),
    ),
    (
        "6.1.12-1 permissions",
        Entry("Type", "Catalog", "Perms", "<</Foo <<>>>>"),
    ),
    (
        "6.1.13-1 integer",
        Entry("Type", "StructTreeRoot", "ParentTreeNextKey", "3000000000"),
    ),
    ("6.1.13-1 integer in content", Content("1 0 0 1 9999999999 0 cm")),
    ("6.1.13-3 string", Entry("Type", "StructElem", "Alt", "(*)")),
    (
        "6.1.13-3 string in content",
        Content("/Span <</ActualText (*)>> BDC EMC"),
    ),
    ("6.1.13-4 name", Entry("Type", "StructElem", "S", "/*")),
    ("6.1.13-4 name in content", Content("/* BMC EMC")),
    (
        "6.1.13-5 real",
        Entry(
            "Type",
            "FontDescriptor",
            "StemV",
            ".000000000000000000000000000000000000000001",
        ),
    ),
    (
        "6.1.13-5 real in content",
        Content("0.000000000000000000000000000000000000000001 w"),
    ),
    (
        "6.1.13-8 q",
        Content("q q q q q q q q q q q q q q q q q q q q q q q q q q q q q"),
    ),
    ("6.1.13-11 large", Entry("Type", "Page", "MediaBox", "[0 0 20000 842]")),
    ("6.1.13-11 small", Entry("Type", "Page", "MediaBox", "[0 0 2 842]")),
    ("6.1.13-11 small crop", Entry("Type", "Page", "CropBox", "[0 0 2 842]")),
    ("6.2.2-1 operator", Content("1 sparkle")),
    ("6.2.2-1 operator in BX", Content("BX 1 sparkle EX")),
    ("6.2.3-1 later profile", Profile(8, b"\x05")),
    ("6.2.3-1 link profile", Profile(12, b"link")),
    ("6.2.3-1 odd profile", Profile(16, b"LUV ")),
    ("6.2.4.3-2 cmyk profile", Profile(16, b"CMYK")),
    ("6.2.4.3-2 no intent", Entry("Type", "Catalog", "OutputIntents", "")),
    (
        "6.2.4.3-2 empty intents",
        Entry("Type", "Catalog", "OutputIntents", "[]"),
    ),
    ("6.2.4.3-3 cmyk", Content("0 0 0 1 k 0 0 9 9 re f")),
    (
        "6.2.4.3-3 cmyk by name",
        Content("/DeviceCMYK cs 0 0 0 1 sc 0 0 9 9 re f"),
    ),
    (
        "6.2.4.3-3 cmyk image",
        Entry("Subtype", "Image", "ColorSpace", "/DeviceCMYK"),
    ),
    ("6.2.5-1 TR", State("TR", "/Identity")),
    ("6.2.5-2 TR2", State("TR2", "/Identity")),
    ("6.2.5-3 HTP", State("HTP", "[]")),
    ("6.2.5-4 HT", State("HT", "<</HalftoneType 6>>")),
    ("6.2.6-1 intent", Entry("Subtype", "Image", "Intent", "/Pretty")),
    ("6.2.6-1 intent in content", Content("/Pretty ri")),
    ("6.2.8-1 alternates", Entry("Subtype", "Image", "Alternates", "[]")),
    ("6.2.8-2 opi", Entry("Subtype", "Image", "OPI", "<<>>")),
    ("6.2.8-3 interpolate", Entry("Subtype", "Image", "Interpolate", "true")),
    (
        "6.2.8-3 interpolate inline",
        Content("BI /W 1 /H 1 /BPC 8 /CS /G /I true ID x\nEI"),
    ),
    ("6.2.8-4 bits", Entry("Subtype", "Image", "BitsPerComponent", "3")),
    ("6.2.9-1 opi", Entry("Subtype", "Form", "OPI", "<<>>")),
    ("6.2.9-1 postscript", Entry("Subtype", "Form", "Subtype2", "/PS")),
    ("6.2.9-2 reference", Entry("Subtype", "Form", "Ref", "<<>>")),
    ("6.2.9-3 postscript", Entry("Subtype", "Form", "Subtype", "/PS")),
    ("6.2.10-1 blend mode", State("BM", "/Sparkle")),
    ("6.2.11.2-6 widths", Entry("Subtype", "Type3", "Widths", "[]")),
    (
        "6.2.11.3.1-1 encoding",
        Entry("Subtype", "Type0", "Encoding", "/GBK-EUC-H"),
    ),
    (
        "6.2.11.3.2-1 no map",
        Entry("Subtype", "CIDFontType2", "CIDToGIDMap", ""),
    ),
    (
        "6.2.11.3.3-1 encoding",
        Entry("Subtype", "Type0", "Encoding", "/Klingon-H"),
    ),
    (
        "6.2.11.4.1-1 no program",
        Entry("Type", "FontDescriptor", "FontFile2", ""),
    ),
    ("6.2.11.4.1-2 no glyph", Content("BT /FONT 9 Tf <FFF0> Tj ET")),
    (
        "6.2.11.5-1 widths",
        Entry("Subtype", "CIDFontType2", "W", "[0 9999 77]"),
    ),
    (
        "6.2.11.5-1 widths twice",
        Entry("Subtype", "CIDFontType2", "W", "[0 9999 77 0 [1]]"),
    ),
    ("6.2.11.5-1 no widths", Entry("Subtype", "CIDFontType2", "W", "")),
    ("6.2.11.8-1 Tj", Content("BT /FONT 9 Tf <0000> Tj ET")),
    ("6.2.11.8-1 TJ", Content("BT /FONT 9 Tf [<0003> 5 (\\000\\000)] TJ ET")),
    ("6.2.11.8-1 invisible", Content("BT /FONT 9 Tf 3 Tr <0000> Tj ET")),
    (
        "6.2.11.8-1 no code",
        Entry("Subtype", "Type3", "Encoding", "<</Type /Encoding /Differences []>>"),
    ),
    ("6.3.1-1 film", Entry("Type", "Annot", "Subtype", "/Movie")),
    ("6.3.2-1 no flags", Entry("Type", "Annot", "F", "")),
    ("6.3.2-2 hidden", Entry("Type", "Annot", "F", "6")),
    ("6.3.2-2 not printed", Entry("Type", "Annot", "F", "0")),
    ("6.3.3-1 no appearance", Entry("Type", "Annot", "Subtype", "/Text")),
    (
        "6.3.3-2 appearances",
        Entry("Type", "Annot", "AP", "<</N null /D null>>"),
    ),
    (
        "6.4.1-3 form",
        Entry("Type", "Catalog", "AcroForm", "<</Fields [] /NeedAppearances true>>"),
    ),
    (
        "6.4.2-1 form of xml",
        Entry("Type", "Catalog", "AcroForm", "<</Fields [] /XFA (a)>>"),
    ),
    ("6.4.2-2 rendering", Entry("Type", "Catalog", "NeedsRendering", "true")),
    ("6.5.1-1 launch", Entry("Type", "Annot", "A", "<</S /Launch /F (a)>>")),
    (
        "6.5.1-1 script",
        Entry("Type", "Catalog", "OpenAction", "<</S /JavaScript /JS (a)>>"),
    ),
    (
        "6.5.1-1 next",
        Entry("Type", "Annot", "A", "<</S /URI /URI (http://a) /Next <</S /Hide>>>>"),
    ),
    ("6.5.2-1 catalog", Entry("Type", "Catalog", "AA", "<<>>")),
    ("6.5.2-2 page", Entry("Type", "Page", "AA", "<<>>")),
    ("6.6.2.1-1 no metadata", Entry("Type", "Catalog", "Metadata", "")),
    ("6.6.2.1-2 bytes", Metadata(" begin=", " bytes=\"9\" begin=")),
    ("6.6.2.1-3 encoding", Metadata(" begin=", " encoding=\"UTF-8\" begin=")),
    ("6.6.2.1-4 open", Metadata("</rdf:Description>", "")),
    ("6.6.2.1-4 ampersand", Metadata("&amp;", "&")),
    (
        "6.6.2.3.1-1 property",
        Metadata("<pdf:Producer>", "<pdf:Sparkle>a</pdf:Sparkle><pdf:Producer>"),
    ),
    ("6.6.2.3.1-2 date", Metadata("1970-01-01T00:00:00Z", "yesterday")),
    ("6.6.4-2 part", Metadata("part>2<", "part>1<")),
    ("6.6.4-3 level", Metadata("conformance>B<", "conformance>X<")),
];

/// More violations that veraPDF reports, in rare entries of the catalog.
const FAULTS_OF_THE_CATALOG: [(&str, &str, &str); 5] = [
    (
        "6.8-2 file",
        "Names",
        "<</EmbeddedFiles <</Names [(a) <</Type /Filespec /F (a) /EF <</F 1 0 R>>>>]>>>>",
    ),
    ("6.9-1 layers", "OCProperties", "<</OCGs [] /D <</Order []>>>>"),
    (
        "6.9-4 layers",
        "OCProperties",
        "<</OCGs [] /D <</Name (a) /Order [] /AS []>>>>",
    ),
    (
        "6.10-1 presentations",
        "Names",
        "<</AlternatePresentations <</Names []>>>>",
    ),
    ("6.11-1 requirements", "Requirements", "[]"),
];

/// Violations that veraPDF does not check for.
const OTHER_FAULTS: [(&str, Change); 10] = [
    ("a font of no kind", Entry("Subtype", "Type0", "Type", "/Fount")),
    (
        "a reference to nothing",
        Entry("Type", "Catalog", "Outlines", "999999 0 R"),
    ),
    ("a false number of pages", Entry("Type", "Pages", "Count", "2")),
    ("a title of two kinds", Metadata("Title &amp;", "Titles &amp;")),
    ("a date of two kinds", Metadata("CreateDate>1970", "CreateDate>1971")),
    ("a control character", Metadata("&amp;", "\u{1}")),
    ("a graphics state that is not there", Content("/Nowhere gs")),
    ("a font that is not there", Content("BT /Nowhere 9 Tf <0001> Tj ET")),
    (
        "glyphs without procedures",
        Entry("Subtype", "Type3", "CharProcs", "<<>>"),
    ),
    ("content that does not end", Content("(open")),
];

/// Returns name and file, and whether veraPDF reports the violation.
pub(super) fn damaged_archives() -> Vec<(String, Vec<u8>, bool)> {
    let graphics = FIXTURES
        .iter()
        .find(|(name, _)| *name == "graphics")
        .expect("the fixture")
        .1;
    let archive = declared_as_2b(&archived(graphics));
    let both = FAULTS
        .iter()
        .map(|(name, change)| (*name, damaged(&archive, change), true));
    let catalog = FAULTS_OF_THE_CATALOG.iter();
    let catalog =
        catalog.map(|(name, key, value)| (*name, damaged(&archive, &Entry("Type", "Catalog", key, value)), true));
    let ours = OTHER_FAULTS
        .iter()
        .map(|(name, change)| (*name, damaged(&archive, change), false));
    both.chain(catalog)
        .chain(ours)
        .map(|(name, bytes, is_for_verapdf)| (name.to_owned(), bytes, is_for_verapdf))
        .collect()
}

fn damaged(archive: &[u8], change: &Change) -> Vec<u8> {
    match change {
        Bytes(from, to) => replaced(archive, from, to),
        Entry(kind, name, key, value) => {
            let value = value.replace('*', &"a".repeat(40_000));
            edited(archive, |document| {
                let number = find(document, kind, name);
                set(document, number, key, &value);
            })
        }
        State(key, value) => edited(archive, |document| {
            let (owner, _) = text_owner(document);
            let owner = document
                .get_dictionary(owner, "a page or form")
                .expect("a page or form");
            let resources = document.resolve_dictionary(&owner, "Resources").expect("resources");
            let states = document
                .resolve_dictionary(&resources, "ExtGState")
                .expect("graphics states");
            set(
                document,
                states.entries[0].1.as_reference().expect("a reference"),
                key,
                value,
            );
        }),
        Content(operators) => edited(archive, |document| {
            let (owner, font) = text_owner(document);
            let operators = operators.replace("FONT", &font).replace('*', &"a".repeat(40_000));
            let owner_dictionary = document
                .get_dictionary(owner, "a page or form")
                .expect("a page or form");
            let number = owner_dictionary
                .get("Contents")
                .and_then(Object::as_reference)
                .unwrap_or(owner);
            change_data(document, number, |former| {
                [operators.as_bytes(), b"\n", former].concat()
            });
        }),
        Metadata(from, to) => edited(archive, |document| {
            let number = find(document, "Type", "Metadata");
            change_data(document, number, |former| {
                replaced(former, from.as_bytes(), to.as_bytes())
            });
        }),
        Profile(at, bytes) => edited(archive, |document| {
            let catalog = find(document, "Type", "Catalog");
            let catalog = document.get_dictionary(catalog, "a catalog").expect("a catalog");
            let intents = catalog
                .get("OutputIntents")
                .and_then(Object::as_array)
                .expect("an output intent");
            let profile = intents[0]
                .as_dictionary()
                .and_then(|intent| intent.get("DestOutputProfile"));
            let number = profile.and_then(Object::as_reference).expect("a profile");
            change_data(document, number, |former| {
                [&former[..*at], bytes, &former[at + bytes.len()..]].concat()
            });
        }),
    }
}

/// Replaces the last occurrence, which is the one in the trailer if there are several.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes
        .windows(from.len())
        .rposition(|window| window == from)
        .expect("something to replace");
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

fn set(document: &mut Document, number: ObjectNumber, key: &str, value: &str) {
    let mut object = document.get(number).expect("an object");
    let dictionary = object.as_dictionary_mut().expect("a dictionary");
    dictionary.remove(key);
    if !value.is_empty() {
        dictionary.insert(key.as_bytes().to_vec(), parsed(value));
    }
    document.set(number, object);
}

fn parsed(value: &str) -> Object<'static> {
    let text = format!("1 0 obj\n{value}\nendobj").leak();
    parse_indirect_object(text.as_bytes(), 0, text.len()).expect("an object")
}

/// Changes the data of a stream and removes its filter.
fn change_data(document: &mut Document, number: ObjectNumber, edit: impl FnOnce(&[u8]) -> Vec<u8>) {
    let Ok(Object::Stream(mut stream)) = document.get(number) else {
        panic!("expected a stream")
    };
    let mut former = Vec::new();
    StreamReader::default().read(&stream, &mut former).expect("readable");
    stream.data = edit(&former).into();
    stream.dictionary.remove("Filter");
    document.set(number, Object::Stream(stream));
}

/// Returns the first page or form with a font of two-byte codes in its resources, and the font's name.
fn text_owner(document: &Document) -> (ObjectNumber, String) {
    let font = |number: ObjectNumber| {
        let object = document.get(number).ok()?;
        let resources = document.resolve_dictionary(object.as_dictionary()?, "Resources").ok()?;
        let fonts = document.resolve_dictionary(&resources, "Font").ok()?;
        let (name, _) = fonts.entries.iter().find(|(_, font)| is_composite(document, font))?;
        Some((number, String::from_utf8_lossy(name).into_owned()))
    };
    (1..document.size()).find_map(font).expect("text")
}

fn is_composite(document: &Document, font: &Object) -> bool {
    let font = document.resolve(font).expect("a font");
    let kind = font.as_dictionary().and_then(|font: &Dictionary| font.get("Subtype"));
    kind.is_some_and(|kind| kind.is_name("Type0"))
}
