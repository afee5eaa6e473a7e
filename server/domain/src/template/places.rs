//! Finds the position of words and JSON members in a text.

use std::collections::HashMap;

use crate::editor::{Pane, Place};

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPlace {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// In characters.
    pub length: usize,
}

impl TextPlace {
    /// Returns the position of `length` bytes at a byte offset of the text.
    fn at(text: &str, offset: usize, length: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let found = text.get(offset..offset + length).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            length: found.chars().count(),
        }
    }

    /// Returns the position in the text of this pane.
    pub fn in_pane(self, pane: Pane) -> Place {
        let Self { line, column, length } = self;
        Place {
            pane,
            line,
            column,
            length,
        }
    }
}

/// Returns the first position of a word, or `None` if it does not occur.
pub fn find(text: &str, word: &str) -> Option<TextPlace> {
    let offset = text.find(word).filter(|_| !word.is_empty())?;
    Some(TextPlace::at(text, offset, word.len()))
}

/// Maximum length of a path in bytes; users don't read longer ones.
const LONGEST_PATH: usize = 1000;

/// First positions of members in a JSON text. Paths have the form of the template analysis: `customer.fax`,
/// `lines[].sku`.
pub struct JsonMembers<'a> {
    json: &'a str,
    at: usize,
    wanted: &'a [String],
    /// Offset and length, in bytes.
    found: HashMap<String, (usize, usize)>,
}

impl<'a> JsonMembers<'a> {
    /// Searches a text that a parser has accepted as JSON, which limits its nesting.
    pub fn find(json: &'a str, wanted: &'a [String]) -> Self {
        let mut members = Self {
            json,
            at: 0,
            wanted,
            found: HashMap::new(),
        };
        members.value(Some(""));
        members
    }

    /// Returns the position of a member's name.
    pub fn place(&self, path: &str) -> Option<TextPlace> {
        let (offset, length) = self.found.get(path)?;
        Some(TextPlace::at(self.json, *offset, *length))
    }

    /// Returns the path if it leads to a wanted member: all other paths together could be far longer than the text.
    fn leading(&self, path: String) -> Option<String> {
        let leads = path.len() <= LONGEST_PATH && self.wanted.iter().any(|wanted| wanted.starts_with(&path));
        leads.then_some(path)
    }

    fn value(&mut self, path: Option<&str>) {
        match self.next() {
            Some(b'{') => self.members(path),
            Some(b'[') => self.elements(path),
            Some(b'"') => {
                self.string();
            }
            _ => self.skip(|byte| !b",]} \n\r\t".contains(&byte)),
        }
    }

    fn members(&mut self, parent: Option<&str>) {
        self.at += 1;
        while let Some(b'"') = self.next() {
            let from = self.at;
            let written = self.string();
            let path = parent.and_then(|parent| {
                let name: String = serde_json::from_str(written).unwrap_or_default();
                self.leading(if parent.is_empty() {
                    name
                } else {
                    format!("{parent}.{name}")
                })
            });
            if let Some(path) = &path {
                self.found.entry(path.clone()).or_insert((from, written.len()));
            }
            self.expect(b':');
            self.value(path.as_deref());
            self.expect(b',');
        }
        self.expect(b'}');
    }

    fn elements(&mut self, parent: Option<&str>) {
        self.at += 1;
        let path = parent.and_then(|parent| self.leading(format!("{parent}[]")));
        while self.next().is_some_and(|byte| byte != b']') {
            let from = self.at;
            self.value(path.as_deref());
            self.expect(b',');
            if self.at == from {
                return;
            }
        }
        self.expect(b']');
    }

    /// Skips a string and returns it as written.
    fn string(&mut self) -> &'a str {
        let from = self.at;
        self.at += 1;
        while let Some(byte) = self.json.as_bytes().get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                break;
            }
        }
        self.json.get(from..self.at).unwrap_or_default()
    }

    fn expect(&mut self, byte: u8) {
        if self.next() == Some(byte) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        self.skip(|byte| byte.is_ascii_whitespace());
        self.json.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, passed: impl Fn(u8) -> bool) {
        let rest = self.json.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| passed(**byte)).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize, column: usize, length: usize) -> TextPlace {
        TextPlace { line, column, length }
    }

    #[test]
    fn members_are_found_where_they_stand_first() {
        let json = "{\n  \"a\\\"ß\": {\"b\": [1, {\"c\": \"{\\\"x\\\": 1}\"}, {\"c\": 2, \"d\": [[]]}]},\n  \"e\":null , \"f\": -1e3}";
        let wanted = ["a\"ß", "a\"ß.b", "a\"ß.b[].c", "a\"ß.b[].d", "e", "f", "x"].map(str::to_owned);
        let members = JsonMembers::find(json, &wanted);
        assert_eq!(members.place("a\"ß"), Some(place(2, 3, 6)));
        assert_eq!(members.place("a\"ß.b"), Some(place(2, 12, 3)));
        assert_eq!(members.place("a\"ß.b[].c"), Some(place(2, 22, 3)));
        assert_eq!(members.place("a\"ß.b[].d"), Some(place(2, 51, 3)));
        assert_eq!(members.place("e"), Some(place(3, 3, 3)));
        assert_eq!(members.place("f"), Some(place(3, 14, 3)));
        assert_eq!(members.place("x"), None);
    }

    #[test]
    fn what_is_no_json_ends_too() {
        let wanted = ["b".to_owned()];
        for text in ["", "{", "{\"a\"", "[,", "{\"a\":", "\"\\", "[1 2", "[}", "}"] {
            assert_eq!(JsonMembers::find(text, &wanted).place("b"), None, "{text}");
        }
    }

    #[test]
    fn a_word_is_found_where_it_stands_first() {
        assert_eq!(find("ä\nü <img src=x> x", "x"), Some(place(2, 12, 1)));
        assert_eq!(find("abc", "d"), None);
        assert_eq!(find("abc", ""), None);
    }
}
