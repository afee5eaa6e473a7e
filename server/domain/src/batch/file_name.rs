//! Names of documents in the ZIP archive of a batch, filled from the data of rows: `{{ customer.name }}/{{ number }}.pdf`.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::{batch::path_pattern, destination::path_problem, validation::quote};

/// Characters that file names must not contain on Windows, apart from the separator of folders in archives.
const NOT_PORTABLE: [char; 8] = ['\\', ':', '*', '?', '"', '<', '>', '|'];
/// Maximum length of a segment of the name, in bytes, on usual file systems.
const LONGEST_SEGMENT: usize = 255;

/// Fills the placeholders of a pattern, as [`path_pattern::fill`] does, normalizes the name to NFC, because macOS treats composed and
/// decomposed letters as the same, replaces characters that not all systems allow by hyphens, and checks the name. The error says
/// what is wrong.
pub fn fill(pattern: &str, row: &Value) -> Result<String, String> {
    let composed: String = path_pattern::fill(pattern, row)?.nfc().collect();
    let name = composed.replace(NOT_PORTABLE, "-");
    check(&name)?;
    Ok(name)
}

/// Checks a name, or a pattern as it stands. The error says what is wrong.
pub fn check(name: &str) -> Result<(), String> {
    let reason = path_problem(name).or_else(|| {
        if name.split('/').any(str::is_empty) {
            Some("Must not begin with a slash, or contain an empty segment".to_owned())
        } else if name.split('/').any(|segment| segment.ends_with(['.', ' '])) {
            Some("Must not contain a segment that ends with a dot or a space".to_owned())
        } else if name.split('/').any(|segment| segment.len() > LONGEST_SEGMENT) {
            Some(format!("Must have segments of at most {LONGEST_SEGMENT} bytes"))
        } else {
            None
        }
    });
    reason.map_or(Ok(()), |reason| Err(format!("{reason}; got {}", quote(name))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_stay_within_the_folder_of_the_archive_on_all_systems() {
        let name_of = |text: &str| fill("{{ folder }}/{{ number }}.pdf", &json!({"folder": text, "number": 17}));
        for (text, name) in [
            ("2026", "2026/17.pdf"),
            ("Ann/Bob", "Ann-Bob/17.pdf"),
            ("..\\x", "..-x/17.pdf"),
            ("C: \"12:30\"", "C- -12-30-/17.pdf"),
            ("ä b..c", "ä b..c/17.pdf"),
            ("a\u{308}", "\u{e4}/17.pdf"),
        ] {
            assert_eq!(name_of(text).as_deref(), Ok(name));
        }
        let (long, segment) = ("x".repeat(1024), "x".repeat(256));
        for (text, reason) in [
            ("..", "the segment .."),
            (".", "ends with a dot"),
            (".. ", "ends with a dot or a space"),
            ("a\nb", "control characters"),
            (segment.as_str(), "segments of at most 255 bytes"),
            (long.as_str(), "at most 1024 bytes"),
        ] {
            let error = name_of(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        for name in ["", "/a.pdf", "a//b.pdf", "folder/"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
