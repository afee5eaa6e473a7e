//! The table directory of a font (OpenType 1.9, "Organization of an OpenType font"). The browser's sanitizer refuses
//! at least the fonts that fail these checks, but silently.

/// Size of the header, and of a table's record, in bytes.
const HEADER: usize = 12;
const RECORD: usize = 16;
/// Maximum number of tables. OpenType defines about 60.
const MOST_TABLES: usize = 256;
/// Tables without which no browser uses a font.
const REQUIRED: [&[u8; 4]; 5] = [b"cmap", b"head", b"hhea", b"hmtx", b"maxp"];
/// Tables of glyphs, of which one is required.
const GLYPHS: [&[u8; 4]; 6] = [b"glyf", b"CFF ", b"CFF2", b"CBDT", b"sbix", b"SVG "];

/// A table's tag, and the offsets of its first byte and of the byte after it.
type Table = ([u8; 4], usize, usize);

/// Checks that the tables of a font lie within the file, don't overlap, and suffice.
pub(super) fn check(font: &[u8]) -> Result<(), String> {
    let mut tables = read(font).ok_or("The font is damaged: its table directory is incomplete")?;
    for (tag, _, end) in &tables {
        if *end > font.len() {
            return Err(format!(
                "The font is damaged: table {} extends beyond the file",
                shown(*tag)
            ));
        }
    }
    tables.sort_by_key(|(_, start, _)| *start);
    for pair in tables.windows(2) {
        let [(first, _, end), (second, start, _)] = pair else {
            continue;
        };
        if end > start {
            return Err(format!(
                "The font is damaged: tables {} and {} overlap",
                shown(*first),
                shown(*second)
            ));
        }
    }
    let has = |tag: &[u8; 4]| tables.iter().any(|(found, _, _)| found == tag);
    if let Some(missing) = REQUIRED.into_iter().find(|tag| !has(tag)) {
        return Err(format!("The font lacks table {}", shown(*missing)));
    }
    if !GLYPHS.into_iter().any(has) {
        return Err(
            "The font contains no glyphs: it has none of the tables glyf, CFF, CFF2, CBDT, sbix and SVG".to_owned(),
        );
    }
    Ok(())
}

/// Returns the tables with content. `None` if there is no complete directory.
fn read(font: &[u8]) -> Option<Vec<Table>> {
    let count = usize::from(u16::from_be_bytes(font.get(4..6)?.try_into().ok()?));
    let records = font.get(HEADER..HEADER + count * RECORD)?.chunks_exact(RECORD);
    if count > MOST_TABLES {
        return None;
    }
    let tables = records.map(|record| {
        let number = |at: usize| {
            let bytes = record.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        let (start, length) = (number(8)?, number(12)?);
        Some((record.get(..4)?.try_into().ok()?, start, start.checked_add(length)?))
    });
    let tables = tables.collect::<Option<Vec<Table>>>()?;
    Some(tables.into_iter().filter(|(_, start, end)| start < end).collect())
}

fn shown(tag: [u8; 4]) -> String {
    tag.escape_ascii().to_string()
}
