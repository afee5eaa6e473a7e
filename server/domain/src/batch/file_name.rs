//! Names of documents in the ZIP archive of a batch, filled from the data of rows: `{{ customer.name }}/{{ number }}.pdf`.

use serde_json::Value;

use crate::{batch::path_pattern, destination::path_problem, validation::quote};

/// Fills the placeholders of a pattern, as [`path_pattern::fill`] does, and checks the name. The error says what is wrong.
pub fn fill(pattern: &str, row: &Value) -> Result<String, String> {
    let name = path_pattern::fill(pattern, row)?;
    check(&name)?;
    Ok(name)
}

/// Checks a name, or a pattern apart from its placeholders. The error says what is wrong.
pub fn check(name: &str) -> Result<(), String> {
    let reason = path_problem(name).or_else(|| {
        // Programs that extract archives refuse or change such names. On Windows, a backslash separates folders.
        if name.contains('\\') {
            Some("Must not contain backslashes".to_owned())
        } else if name.split('/').any(|segment| matches!(segment, "" | ".")) {
            Some("Must not begin with a slash, or contain the segment . or an empty one".to_owned())
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
    fn names_stay_within_the_folder_of_the_archive() {
        let name_of = |text: &str| fill("{{ folder }}/{{ number }}.pdf", &json!({"folder": text, "number": 17}));
        for (text, name) in [
            ("2026", "2026/17.pdf"),
            ("Ann/Bob", "Ann-Bob/17.pdf"),
            ("ä b..c", "ä b..c/17.pdf"),
        ] {
            assert_eq!(name_of(text).as_deref(), Ok(name));
        }
        let long = "x".repeat(1024);
        for (text, reason) in [
            ("..", "the segment .."),
            (".", "the segment ."),
            ("..\\x", "backslashes"),
            ("a\nb", "control characters"),
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
