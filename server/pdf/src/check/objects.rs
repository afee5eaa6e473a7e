//! One pass over all objects: their syntax and limits (ISO 19005-2, 6.1), and whether they have a known shape. It reads
//! tokens without building objects, because a large document has a million objects.

use std::ops::Range;

use super::framing::check_stream;
use super::shapes::document::TRAILER;
use super::shapes::{self, Entry, Form, Presence, Role, Shape, Value};
use super::specimens::{Meaning, Place, Specimens};
use super::syntax::{check_hex_string, check_literal_string, check_name, check_number};
use super::{Finding, Findings};
use crate::file::File;
use crate::lexer::{Lexer, Token};
use crate::object::ObjectNumber;

/// Greatest nesting of direct objects. Chromium writes up to six levels.
const MAX_DEPTH: usize = 32;
/// Objects for further checks.
#[derive(Default)]
pub(super) struct Found {
    pub(super) page_tree_nodes: Vec<ObjectNumber>,
    pub(super) pages: Vec<ObjectNumber>,
    pub(super) drawings: Vec<ObjectNumber>,
    pub(super) composite_fonts: Vec<ObjectNumber>,
    pub(super) type_3_fonts: Vec<ObjectNumber>,
    pub(super) colour_profiles: Vec<ObjectNumber>,
}

/// Checks the trailer, whose dictionary begins at offset `trailer`, and all objects, including unreachable ones.
pub(super) fn check_objects(bytes: &[u8], file: &File, trailer: usize, findings: &mut Findings) -> Found {
    let mut walk = Walk {
        bytes,
        file,
        seen: vec![Seen::No; file.size()],
        waiting: Vec::new(),
        found: Found::default(),
        specimens: Specimens::default(),
        places: Vec::new(),
        references: Vec::new(),
    };
    let mut lexer = Lexer::new(bytes, trailer);
    if let Err(finding) = walk.value(&mut lexer, TRAILER, 0) {
        findings.add(None, finding);
    }
    walk.follow(findings);
    for number in 1..file.size() as ObjectNumber {
        if file.range(number).is_some() && matches!(walk.seen.get(number as usize), Some(Seen::No)) {
            walk.waiting.push((number, shapes::UNUSED));
            walk.follow(findings);
        }
    }
    walk.found
}

#[derive(Clone, Copy)]
enum Seen {
    No,
    /// Read as a value without a shape, such as an array.
    Plain,
    As(&'static Shape),
}

/// A dictionary that was read: its shape, or `None` if any is allowed, and its `/Length`.
struct Read {
    shape: Option<&'static Shape>,
    length: Option<usize>,
}

struct Walk<'f, 'a> {
    bytes: &'a [u8],
    file: &'f File<'a>,
    /// By object number.
    seen: Vec<Seen>,
    waiting: Vec<(ObjectNumber, &'static [Value])>,
    found: Found,
    specimens: Specimens<'a>,
    /// Numbers and texts of the current object.
    places: Vec<Place>,
    /// Reused for its capacity.
    references: Vec<(ObjectNumber, &'static [Value])>,
}

impl<'a> Walk<'_, 'a> {
    fn follow(&mut self, findings: &mut Findings) {
        while let Some((number, values)) = self.waiting.pop() {
            if let Err(finding) = self.object(number, values) {
                findings.add(Some(number), finding);
            }
        }
    }

    /// Checks an object. Each object is read once; if it is referenced again, its shape must be among the expected
    /// ones.
    fn object(&mut self, number: ObjectNumber, values: &'static [Value]) -> Result<(), Finding> {
        let seen = self.seen.get_mut(number as usize);
        let (Some(seen), Some(range)) = (seen, self.file.range(number)) else {
            return Err(Finding::new("6.1", "a reference to a missing object"));
        };
        match *seen {
            Seen::No => *seen = Seen::Plain,
            Seen::As(shape) if shape.is_among(values) => return Ok(()),
            Seen::As(_) | Seen::Plain => return Err(Finding::new("6.1", "an object used for two purposes")),
        }
        let mut lexer = self
            .file
            .lexer(number)
            .ok_or_else(|| Finding::new("6.1.9", "an object without a number"))?;
        if !self.is_line_end(range.start.wrapping_sub(1)) || !self.is_line_end(lexer.position()) {
            return Err(Finding::new(
                "6.1.9",
                "expected a line end before and after the number of an object",
            ));
        }
        let start = lexer.position();
        if self.is_like_another(number, start..range.end, values) {
            return Ok(());
        }
        self.places.clear();
        let read = self.value(&mut lexer, values, 0)?;
        let shape = read.as_ref().and_then(|read| read.shape);
        if let Some(shape) = shape {
            self.note(number, shape);
        }
        let mut is_stream = false;
        let keyword = match next(&mut lexer)? {
            (start, Token::Keyword(b"stream")) => {
                let read = read.ok_or_else(|| Finding::new("6.1.7", "a stream without a dictionary"))?;
                lexer = self.stream(start, &read, range.end)?;
                is_stream = true;
                next(&mut lexer)?
            }
            other => match read.and_then(|read| read.shape) {
                Some(shape) if shape.form == Form::Stream => {
                    return Err(Finding::new(shape.clause, format!("{}: expected a stream", shape.name)));
                }
                _ => other,
            },
        };
        match keyword {
            (at, Token::Keyword(b"endobj"))
                if self.is_line_end(at - 1) && lexer.position() == range.end && self.is_line_end(range.end) =>
            {
                if let Some(shape) = shape.filter(|_| !is_stream) {
                    self.specimens
                        .keep(self.bytes, start..range.end, values, shape, &self.places);
                }
                Ok(())
            }
            _ => Err(Finding::new(
                "6.1.9",
                "expected endobj on a line of its own after an object",
            )),
        }
    }

    /// Returns whether an object is like one that conforms. `range` is from its `obj` to its end.
    fn is_like_another(&mut self, number: ObjectNumber, range: Range<usize>, values: &'static [Value]) -> bool {
        let end = range.end;
        let object = self.bytes.get(range).unwrap_or_default();
        let Some(shape) = self.specimens.shape_of(object, values, &mut self.references) else {
            return false;
        };
        let are_there = |(number, _): &(ObjectNumber, _)| self.file.range(*number).is_some();
        if !self.is_line_end(end) || !self.references.iter().all(are_there) {
            return false;
        }
        let to_follow = |(_, values): &(_, &[Value])| !values.iter().any(Value::is_checked_elsewhere);
        self.waiting.extend(self.references.iter().copied().filter(to_follow));
        self.note(number, shape);
        true
    }

    fn note(&mut self, number: ObjectNumber, shape: &'static Shape) {
        if let Some(seen) = self.seen.get_mut(number as usize) {
            *seen = Seen::As(shape);
        }
        match shape.role {
            Role::Nothing => {}
            Role::PageTreeNode => self.found.page_tree_nodes.push(number),
            Role::Page => self.found.pages.push(number),
            Role::Drawing => self.found.drawings.push(number),
            Role::CompositeFont => self.found.composite_fonts.push(number),
            Role::Type3Font => self.found.type_3_fonts.push(number),
            Role::ColourProfile => self.found.colour_profiles.push(number),
        }
    }

    /// Checks a stream whose keyword is at offset `keyword`. Returns the tokens after `endstream`.
    fn stream(&self, keyword: usize, read: &Read, end: usize) -> Result<Lexer<'a>, Finding> {
        match read.shape {
            Some(shape) if shape.form == Form::Dictionary => Err(Finding::new(
                shape.clause,
                format!("{}: expected a dictionary, not a stream", shape.name),
            )),
            // Its filters would have to be checked.
            None => Err(Finding::new("6.1", "an unreferenced stream is not known to conform")),
            Some(_) => check_stream(self.bytes, keyword, read.length, end),
        }
    }

    fn value(
        &mut self,
        lexer: &mut Lexer<'a>,
        values: &'static [Value],
        depth: usize,
    ) -> Result<Option<Read>, Finding> {
        let token = next(lexer)?;
        self.value_from(token, lexer, values, depth)
    }

    fn value_from(
        &mut self,
        (at, token): (usize, Token<'a>),
        lexer: &mut Lexer<'a>,
        values: &'static [Value],
        depth: usize,
    ) -> Result<Option<Read>, Finding> {
        if depth > MAX_DEPTH {
            return Err(Finding::new("6.1", "objects nested too deeply"));
        }
        let any = |wanted: fn(&Value) -> bool| values.iter().any(wanted);
        let is_allowed = match token {
            Token::Number(raw) => {
                check_number(raw)?;
                let range = at..lexer.position();
                if any(Value::may_be_reference)
                    && let Some(number) = reference(lexer, raw)
                {
                    let meaning = Meaning::Reference(values);
                    self.places.push(Place { range, meaning });
                    return self.reference(number, values);
                }
                if any(Value::is_any_integer) {
                    let meaning = Meaning::Integer;
                    self.places.push(Place { range, meaning });
                }
                values.iter().any(|value| value.allows_number(raw))
            }
            Token::Name(raw) => {
                let name = check_name(raw)?;
                values.iter().any(|value| value.allows_name(&name))
            }
            Token::LiteralString(raw) => {
                check_literal_string(raw)?;
                let (range, meaning) = (at..lexer.position(), Meaning::Text);
                self.places.push(Place { range, meaning });
                any(|value| matches!(value, Value::Text | Value::Anything))
            }
            Token::HexString(raw) => {
                check_hex_string(raw)?;
                any(|value| matches!(value, Value::Text | Value::Anything))
            }
            Token::Keyword(b"true" | b"false") => any(|value| matches!(value, Value::Boolean | Value::Anything)),
            Token::Keyword(b"null") => any(|value| matches!(value, Value::Null | Value::Anything)),
            Token::ArrayStart => {
                let items = values.iter().find_map(Value::items).ok_or_else(Finding::unknown)?;
                loop {
                    match next(lexer)? {
                        (_, Token::ArrayEnd) => return Ok(None),
                        token => self.value_from(token, lexer, items, depth + 1)?,
                    };
                }
            }
            Token::DictionaryStart => return self.dictionary(lexer, values, depth).map(Some),
            Token::Keyword(_) | Token::ArrayEnd | Token::DictionaryEnd => false,
        };
        if is_allowed { Ok(None) } else { Err(Finding::unknown()) }
    }

    fn reference(&mut self, number: ObjectNumber, values: &'static [Value]) -> Result<Option<Read>, Finding> {
        if self.file.range(number).is_none() {
            return Err(Finding::new("6.1", "a reference to a missing object"));
        }
        // In unreferenced objects, references lead to other unreferenced objects, or to objects that have been checked.
        if !values.iter().any(Value::is_checked_elsewhere) {
            self.waiting.push((number, values));
        }
        Ok(None)
    }

    fn dictionary(&mut self, lexer: &mut Lexer<'a>, values: &'static [Value], depth: usize) -> Result<Read, Finding> {
        if values.iter().any(|value| matches!(value, Value::Anything)) {
            loop {
                match next(lexer)? {
                    (_, Token::DictionaryEnd) => {
                        return Ok(Read {
                            shape: None,
                            length: None,
                        });
                    }
                    (_, Token::Name(key)) => check_name(key)?,
                    _ => return Err(Finding::new("6.1", "expected a key in a dictionary")),
                };
                self.value(lexer, values, depth + 1)?;
            }
        }
        let shapes = values.iter().find_map(Value::shapes).ok_or_else(Finding::unknown)?;
        let shape = Shape::choose(shapes, lexer).ok_or_else(Finding::unknown)?;
        if depth > 0 && shape.role != Role::Nothing {
            return Err(Finding::new(
                shape.clause,
                format!("{}: expected a reference", shape.name),
            ));
        }
        let mut present = 0_u64;
        let mut others = Vec::new();
        let mut length = None;
        loop {
            let raw = match next(lexer)? {
                (_, Token::DictionaryEnd) => break,
                (_, Token::Name(raw)) => raw,
                _ => return Err(Finding::new("6.1", "expected a key in a dictionary")),
            };
            let key = check_name(raw)?;
            let values = if let Some((index, (_, _, values))) = shape.find(&key) {
                if present & 1 << index != 0 {
                    return Err(duplicate(shape, &key));
                }
                present |= 1 << index;
                *values
            } else {
                others.push(key.clone());
                shape.others
            };
            if key.as_ref() == b"Length"
                && let Ok(Some((_, Token::Number(digits)))) = lexer.clone().next_token()
            {
                length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
            }
            self.value(lexer, values, depth + 1)
                .map_err(|finding| finding.at(shape, &key))?;
        }
        others.sort_unstable();
        if let Some([key, ..]) = others.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(duplicate(shape, key));
        }
        let is_missing = |(index, entry): &(usize, &Entry)| entry.1 == Presence::Required && present & 1 << index == 0;
        match shape.entries.iter().enumerate().find(is_missing) {
            Some((_, (key, ..))) => Err(Finding::new(shape.clause, format!("{}: /{key} is missing", shape.name))),
            None => Ok(Read {
                shape: Some(shape),
                length,
            }),
        }
    }

    fn is_line_end(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b'\n' | b'\r'))
    }
}

impl Finding {
    /// Adds the dictionary and key in which the violation was found, unless it has a clause already.
    fn at(self, shape: &'static Shape, key: &[u8]) -> Self {
        if !self.clause.is_empty() {
            return self;
        }
        let key = String::from_utf8_lossy(key);
        Self::new(shape.clause, format!("{}: /{key} {}", shape.name, self.message))
    }
}

fn next<'a>(lexer: &mut Lexer<'a>) -> Result<(usize, Token<'a>), Finding> {
    match lexer.next_token() {
        Ok(Some(token)) => Ok(token),
        _ => Err(Finding::new("6.1", "an unterminated object")),
    }
}

/// Returns the number of the referenced object, if a generation and `R` follow.
fn reference(lexer: &mut Lexer, raw: &[u8]) -> Option<ObjectNumber> {
    let mut ahead = lexer.clone();
    let follows = matches!(ahead.next_token(), Ok(Some((_, Token::Number(b"0")))))
        && matches!(ahead.next_token(), Ok(Some((_, Token::Keyword(b"R")))));
    if !follows {
        return None;
    }
    *lexer = ahead;
    // An invalid number becomes 0, which no object has.
    Some(
        std::str::from_utf8(raw)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or_default(),
    )
}

fn duplicate(shape: &'static Shape, key: &[u8]) -> Finding {
    let key = String::from_utf8_lossy(key);
    Finding::new("6.1", format!("{}: /{key} occurs twice", shape.name))
}
