use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

use super::*;

const MONO: &[u8] = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-600-normal.woff2");
const VARIABLE: &[u8] = include_bytes!("../../../../public/fonts/archivo-latin-wdth-normal.woff2");
/// Size of the header of WOFF, and of a table's record in it (WOFF 1.0, sections 3 and 4).
const WOFF_HEADER: usize = 44;
const WOFF_RECORD: usize = 20;

fn unpack(woff2: &[u8]) -> Vec<u8> {
    wuff::decompress_woff2(woff2).unwrap()
}

/// Returns the tag, offset and length of each table, and where its record is.
fn records(font: &[u8]) -> Vec<(usize, [u8; 4], usize, usize)> {
    let number = |at: usize| u32::from_be_bytes(font[at..at + 4].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_be_bytes([font[4], font[5]]));
    let records = (0..count).map(|index| 12 + 16 * index);
    let records = records.map(|at| {
        (
            at,
            font[at..at + 4].try_into().unwrap(),
            number(at + 8),
            number(at + 12),
        )
    });
    records.collect()
}

fn record_of(font: &[u8], tag: [u8; 4]) -> usize {
    records(font)
        .into_iter()
        .find(|(_, found, _, _)| *found == tag)
        .unwrap()
        .0
}

/// Packs a font as WOFF, as the specification describes it.
fn woff(font: &[u8]) -> Vec<u8> {
    let tables = records(font);
    let mut directory = Vec::new();
    let mut data = Vec::new();
    let start = WOFF_HEADER + WOFF_RECORD * tables.len();
    for (at, tag, offset, length) in &tables {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&font[*offset..offset + length]).unwrap();
        let packed = encoder.finish().unwrap();
        let stored = if packed.len() < *length {
            &packed
        } else {
            &font[*offset..offset + length]
        };
        directory.extend(tag);
        for number in [start + data.len(), stored.len(), *length] {
            directory.extend(u32::try_from(number).unwrap().to_be_bytes());
        }
        directory.extend(&font[at + 4..at + 8]);
        data.extend(stored);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    let mut file = b"wOFF".to_vec();
    file.extend(&font[..4]);
    file.extend(u32::try_from(start + data.len()).unwrap().to_be_bytes());
    file.extend(u16::try_from(tables.len()).unwrap().to_be_bytes());
    file.extend([0, 0]);
    file.extend(u32::try_from(font.len()).unwrap().to_be_bytes());
    file.resize(WOFF_HEADER, 0);
    file.extend(directory);
    file.extend(data);
    file
}

#[test]
fn fonts_are_described_in_each_format() {
    let unpacked = unpack(MONO);
    for file in [MONO, &unpacked, &woff(&unpacked)] {
        let face = examine(file).unwrap();
        assert_eq!(face.family.as_deref(), Some("IBM Plex Mono"));
        assert_eq!(face.legacy_family.as_deref(), Some("IBM Plex Mono SemiBold"));
        assert_eq!(face.style.as_deref(), Some("SemiBold"));
        assert_eq!((face.weight, face.width, face.italic), ([600; 2], [1000; 2], false));
        assert_eq!((face.axes.len(), face.embedding), (0, Embedding::Installable));
        assert_eq!(face.scripts[0].script, "Latin");
        assert!(face.scripts[0].characters > 100 && face.characters > face.scripts[0].characters);
    }
}

#[test]
fn ranges_of_variable_fonts_are_read() {
    let face = examine(VARIABLE).unwrap();
    assert_eq!(face.family.as_deref(), Some("Archivo"));
    assert_eq!((face.weight, face.width), ([100, 900], [620, 1250]));
    assert_eq!(face.axes, ["wght", "wdth"]);
}

#[test]
fn the_licence_is_read() {
    let mut font = unpack(MONO);
    let os2 = records(&font)
        .into_iter()
        .find(|(_, tag, _, _)| tag == b"OS/2")
        .unwrap()
        .2;
    for (fs_type, embedding) in [
        (2, Embedding::Restricted),
        (4, Embedding::PreviewAndPrint),
        (8, Embedding::Editable),
    ] {
        font[os2 + 9] = fs_type;
        assert_eq!(examine(&font).unwrap().embedding, embedding);
    }
}

#[test]
fn damaged_fonts_are_refused() {
    let font = unpack(MONO);
    let changed = |at: usize, bytes: [u8; 4]| {
        let mut changed = font.clone();
        changed[at..at + 4].copy_from_slice(&bytes);
        changed
    };
    let (glyf, head, cmap) = (
        record_of(&font, *b"glyf"),
        record_of(&font, *b"head"),
        record_of(&font, *b"cmap"),
    );
    let start_of_glyf = font[glyf + 8..glyf + 12].try_into().unwrap();
    for (file, reason) in [
        (changed(head + 8, start_of_glyf), "overlap"),
        (changed(glyf + 12, [0xFF; 4]), "table glyf extends beyond the file"),
        (changed(cmap, *b"cma?"), "lacks table cmap"),
        (changed(glyf, *b"gly?"), "contains no glyphs"),
        (font[..40].to_vec(), "its table directory is incomplete"),
        (b"\0\x01\0\0\xFF\xFF".to_vec(), "its table directory is incomplete"),
        (MONO[..MONO.len() / 2].to_vec(), "can't be unpacked"),
        (b"wOFF and more".to_vec(), "can't be unpacked"),
        (b"wOF2ttcf".to_vec(), "Collections of fonts"),
    ] {
        let found = examine(&file).unwrap_err();
        assert!(found.contains(reason), "{found}");
    }
}
