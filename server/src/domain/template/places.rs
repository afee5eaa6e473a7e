//! Where in a text something stands that was found without its place.

use std::collections::HashMap;

/// A place in a text.
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
    /// The place of `length` bytes at a byte of the text.
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
}

/// Where a word stands first.
pub fn find(text: &str, word: &str) -> Option<TextPlace> {
    let offset = text.find(word).filter(|_| !word.is_empty())?;
    Some(TextPlace::at(text, offset, word.len()))
}

/// The names of the members of a JSON text, where each stands first. They are called as a template's analysis calls them:
/// `customer.fax`, `lines[].sku`.
pub struct JsonMembers<'a> {
    json: &'a str,
    at: usize,
    /// Start and length, in bytes.
    found: HashMap<String, (usize, usize)>,
}

impl<'a> JsonMembers<'a> {
    /// Looks through a text that a parser has taken for JSON, which bounds how deeply it is nested.
    pub fn of(json: &'a str) -> Self {
        let mut members = Self {
            json,
            at: 0,
            found: HashMap::new(),
        };
        members.value("");
        members
    }

    /// Where a member's name stands.
    pub fn find(&self, path: &str) -> Option<TextPlace> {
        let (offset, length) = self.found.get(path)?;
        Some(TextPlace::at(self.json, *offset, *length))
    }

    fn value(&mut self, path: &str) {
        match self.next() {
            Some(b'{') => self.members(path),
            Some(b'[') => self.elements(path),
            Some(b'"') => {
                self.string();
            }
            _ => self.skip(|byte| !b",]} \n\r\t".contains(&byte)),
        }
    }

    fn members(&mut self, path: &str) {
        self.at += 1;
        while let Some(b'"') = self.next() {
            let from = self.at;
            let written = self.string();
            let name: String = serde_json::from_str(written).unwrap_or_default();
            let path = if path.is_empty() {
                name
            } else {
                format!("{path}.{name}")
            };
            self.found.entry(path.clone()).or_insert((from, written.len()));
            self.expect(b':');
            self.value(&path);
            self.expect(b',');
        }
        self.expect(b'}');
    }

    fn elements(&mut self, path: &str) {
        self.at += 1;
        let path = format!("{path}[]");
        while self.next().is_some_and(|byte| byte != b']') {
            let from = self.at;
            self.value(&path);
            self.expect(b',');
            if self.at == from {
                return;
            }
        }
        self.expect(b']');
    }

    /// Passes a string, and gives it as it is written.
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
        let members = JsonMembers::of(json);
        assert_eq!(members.find("a\"ß"), Some(place(2, 3, 6)));
        assert_eq!(members.find("a\"ß.b"), Some(place(2, 12, 3)));
        assert_eq!(members.find("a\"ß.b[].c"), Some(place(2, 22, 3)));
        assert_eq!(members.find("a\"ß.b[].d"), Some(place(2, 51, 3)));
        assert_eq!(members.find("e"), Some(place(3, 3, 3)));
        assert_eq!(members.find("f"), Some(place(3, 14, 3)));
        assert_eq!(members.find("x"), None);
    }

    #[test]
    fn what_is_no_json_ends_too() {
        for text in ["", "{", "{\"a\"", "[,", "{\"a\":", "\"\\", "[1 2", "[}", "}"] {
            assert_eq!(JsonMembers::of(text).find("b"), None, "{text}");
        }
    }

    #[test]
    fn a_word_is_found_where_it_stands_first() {
        assert_eq!(find("ä\nü <img src=x> x", "x"), Some(place(2, 12, 1)));
        assert_eq!(find("abc", "d"), None);
        assert_eq!(find("abc", ""), None);
    }
}
