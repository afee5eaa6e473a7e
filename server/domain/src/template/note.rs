//! Notes on versions of templates.

use crate::{editor::LONGEST_NOTE, line::line};

/// What a version changes, in the words of the member who published it: a line of 1 to 500 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionNote(String);

/// The text is too long, or contains control characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a note has at most {LONGEST_NOTE} characters, and no control characters")]
pub struct InvalidNote;

impl VersionNote {
    /// Parses the text of a form. Line breaks and other whitespace become single spaces. Returns `None` if nothing is
    /// left.
    pub fn parse(text: &str) -> Result<Option<Self>, InvalidNote> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        line(text, LONGEST_NOTE).map(|line| Some(Self(line))).ok_or(InvalidNote)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_of_500_characters_or_none() {
        let parsed = |text: &str| VersionNote::parse(text).map(|note| note.map(|note| note.0));
        assert_eq!(parsed(""), Ok(None));
        assert_eq!(parsed(" \r\n\t"), Ok(None));
        assert_eq!(
            parsed(" New logo,\r\n  VAT by rate\n"),
            Ok(Some("New logo, VAT by rate".to_owned()))
        );
        assert_eq!(parsed(&"ä".repeat(500)), Ok(Some("ä".repeat(500))));
        assert_eq!(parsed(&"ä".repeat(501)), Err(InvalidNote));
        assert_eq!(parsed("a\u{0}b"), Err(InvalidNote));
        assert_eq!(parsed("a\u{1b}b"), Err(InvalidNote));
    }
}
