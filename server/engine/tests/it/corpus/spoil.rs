//! Corrupted PDF/A files, to compare the verdicts of both validators.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Words and replacements of the same length, so that offsets in the cross-reference table remain valid.
const OTHER_WORDS: [(&str, &str); 20] = [
    ("/ID ", "/IX "),
    ("/Metadata ", "/Metadatx "),
    ("/OutputIntents ", "/OutputIntentx "),
    ("/GTS_PDFA1", "/GTS_PDFX1"),
    ("<pdfaid:part>2", "<pdfaid:part>3"),
    ("<pdfaid:conformance>", "<pdfaid:conformancf>"),
    ("rdf:Description", "rdf:Descriptiox"),
    ("/F 4", "/F 2"),
    ("/Subtype /Link", "/Subtype /Movi"),
    ("/S /URI", "/S /UR1"),
    ("/FontFile2 ", "/FontFilx2 "),
    ("/CIDToGIDMap ", "/CIDToGIDMax "),
    ("/Identity-H", "/Identity-X"),
    ("/W [", "/X ["),
    ("/Widths", "/Widthx"),
    ("/BM /Multiply", "/BM /Multiplx"),
    ("/ColorSpace /DeviceRGB", "/ColorSpace /DeviceXYZ"),
    ("/BitsPerComponent 8", "/BitsPerComponent 3"),
    ("/Filter /FlateDecode", "/Filter /FlatxDecode"),
    ("/MediaBox [", "/MediaBux ["),
];
/// Number of files in which each word is replaced.
const FILES_PER_WORD: usize = 2;

/// Writes corrupted, uncompressed copies of some of the files, and returns their paths.
pub(super) fn spoil(files: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let mut written = Vec::new();
    for (number, (word, other)) in (1..).zip(OTHER_WORDS) {
        assert_eq!(word.len(), other.len(), "{word}");
        let spoilt = files.iter().filter_map(|file| {
            Some((
                file,
                replaced(&platen_pdf::unpack(&fs::read(file).unwrap()).unwrap(), word, other)?,
            ))
        });
        for (file, spoilt) in spoilt.take(FILES_PER_WORD) {
            let name = file.file_name().unwrap().to_string_lossy();
            let path = folder.join(format!("spoilt {number} {name}"));
            fs::write(&path, spoilt).unwrap();
            written.push(path);
        }
    }
    written
}

/// Returns the file with the first occurrence of `word` replaced, or `None` if there is none.
fn replaced(file: &[u8], word: &str, other: &str) -> Option<Vec<u8>> {
    let at = file.windows(word.len()).position(|window| window == word.as_bytes())?;
    let mut spoilt = file.to_vec();
    spoilt[at..at + other.len()].copy_from_slice(other.as_bytes());
    Some(spoilt)
}
