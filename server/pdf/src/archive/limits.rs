//! Enforces the limits of PDF/A on numbers, names and strings (ISO 19005-2, 6.1.13), and removes invalid language tags.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem::Finder;
use sha2::{Digest as _, Sha256};

use super::warnings::Warnings;
use crate::PdfError;
use crate::concurrency::concurrently;
use crate::content::{SUSPICIOUS_DIGITS, has_long_number, has_run};
use crate::digest::first_half;
use crate::document::Document;
use crate::lexer::{Token, is_regular};
use crate::merged_elements::is_wrapper;
use crate::object::{MAX_NAME, Object, ObjectNumber};
use crate::parse::parse_number;
use crate::text::{MAX_STRING, abbreviate, clean, decode, fit_encoded, is_language_tag};

const MAX_INTEGER: i64 = i32::MAX as i64;
const MAX_REAL: f64 = 3.403e38;
/// A real closer to zero must be zero.
const MIN_REAL: f64 = 1.175e-38;
/// Length in bytes up to which an object can't contain a string that is too long.
const SHORT_OBJECT: usize = 512;

/// Number of objects from which half of them are inspected on another thread.
const MANY_OBJECTS: ObjectNumber = 4_096;

/// Keys whose values the inspection evaluates, and the kinds of elements that it collects.
const KEYS: [&str; 6] = ["/Lang", "/Subtype", "/PatternType", "/LI", "/S /Table", "/S /Figure"];

/// Objects for later passes.
#[derive(Default)]
pub(super) struct Noted {
    /// Form `XObject`s and tiling patterns, which have drawing operators but are no pages.
    pub(super) drawings: Vec<ObjectNumber>,
    pub(super) fonts: Vec<ObjectNumber>,
    /// Structure elements of the type `LI`.
    pub(super) list_items: Vec<ObjectNumber>,
    /// Those of the type `Table`.
    pub(super) tables: Vec<ObjectNumber>,
    /// Those of the type `Figure`.
    pub(super) figures: Vec<ObjectNumber>,
    /// Those that have nothing but content.
    pub(super) wrappers: Vec<ObjectNumber>,
}

/// Repairs values beyond a limit in every object, except in the data of streams, and collects objects for later passes.
pub(super) fn enforce_limits(document: &mut Document, warnings: &mut Warnings) -> Result<Noted, PdfError> {
    let mut noted = Noted::default();
    let mut repaired = Repaired::default();
    for (number, findings) in (1..).zip(inspect_all(document)?) {
        match findings.kind {
            Kind::Other => {}
            Kind::Drawing => noted.drawings.push(number),
            Kind::Font => noted.fonts.push(number),
            Kind::ListItem => noted.list_items.push(number),
            Kind::Table => noted.tables.push(number),
            Kind::Figure => noted.figures.push(number),
            Kind::Wrapper => noted.wrappers.push(number),
        }
        if findings.is_suspicious {
            let mut object = document.get(number)?;
            let before = repaired.count;
            repaired.repair(&mut object, b"");
            if repaired.count > before {
                document.set(number, object);
            }
        }
    }
    repaired.report(warnings);
    Ok(noted)
}

/// Returns whether a number is out of range; `raw` is as in the file.
pub(super) fn is_extreme(raw: &[u8]) -> bool {
    raw.len() >= SUSPICIOUS_DIGITS && parse_number(raw).is_some_and(|number| within_range(&number).is_some())
}

/// Returns the nearest number that is allowed; `None` if the number itself is.
pub(super) fn within_range(number: &Object) -> Option<Object<'static>> {
    match *number {
        Object::Integer(value) if value.abs_diff(0) > MAX_INTEGER as u64 => {
            Some(Object::Integer(MAX_INTEGER * value.signum()))
        }
        Object::Real(value) if value != 0.0 && value.abs() < MIN_REAL => Some(Object::Integer(0)),
        Object::Real(value) if value.abs() > MAX_REAL => Some(Object::Integer(MAX_INTEGER * value.signum() as i64)),
        _ => None,
    }
}

#[derive(Default)]
struct Findings {
    kind: Kind,
    is_suspicious: bool,
}

#[derive(Default)]
enum Kind {
    #[default]
    Other,
    Drawing,
    Font,
    ListItem,
    Table,
    Figure,
    Wrapper,
}

impl Kind {
    /// Returns the kind for a value of `/Subtype`.
    fn of_subtype(name: &[u8]) -> Option<Self> {
        match name {
            b"Form" => Some(Self::Drawing),
            b"Type0" | b"Type3" => Some(Self::Font),
            _ => None,
        }
    }

    /// Returns the kind for the type of a structure element.
    fn of_element(name: &[u8]) -> Option<Self> {
        match name {
            b"LI" => Some(Self::ListItem),
            b"Table" => Some(Self::Table),
            b"Figure" => Some(Self::Figure),
            _ => None,
        }
    }

    fn of(object: &Object) -> Self {
        let get = |key| object.as_dictionary().and_then(|dictionary| dictionary.get(key));
        match (get("Subtype"), get("S")) {
            (Some(Object::Name(name)), _) => Self::of_subtype(name).unwrap_or_default(),
            (_, Some(Object::Name(name))) => Self::of_element(name).unwrap_or_default(),
            _ if get("PatternType").and_then(Object::as_integer) == Some(1) => Self::Drawing,
            _ => Self::Other,
        }
    }
}

/// Inspects all objects, in the order of their numbers from 1.
fn inspect_all(document: &Document) -> Result<Vec<Findings>, PdfError> {
    let keys = KEYS.map(Finder::new);
    let inspect = |numbers: Range<ObjectNumber>| -> Result<Vec<Findings>, PdfError> {
        let findings = numbers.map(|number| match document.changed(number) {
            Some(object) => Ok(Findings {
                kind: Kind::of(object),
                is_suspicious: true,
            }),
            None => inspect(document, number, &keys),
        });
        findings.collect()
    };
    let size = document.size();
    if size < MANY_OBJECTS {
        return inspect(1..size);
    }
    let (second, first) = concurrently(|| inspect(size / 2..size), || inspect(1..size / 2));
    let mut findings = first?;
    findings.append(&mut second?);
    Ok(findings)
}

/// Scans an object's tokens in its file. Most objects need no more.
fn inspect(document: &Document, number: ObjectNumber, keys: &[Finder]) -> Result<Findings, PdfError> {
    let mut findings = Findings::default();
    let Some(object) = document.original_bytes(number) else {
        return Ok(findings);
    };
    if is_wrapper(object) {
        findings.kind = Kind::Wrapper;
        return Ok(findings);
    }
    if is_harmless(object, keys) {
        return Ok(findings);
    }
    let Some(mut lexer) = document.lexer(number) else {
        return Ok(findings);
    };
    let mut key: &[u8] = b"";
    while let Some((_, token)) = lexer.next_token()? {
        match token {
            Token::Name(raw) => {
                let kind = match key {
                    b"Subtype" => Kind::of_subtype(raw),
                    b"S" => Kind::of_element(raw),
                    _ => None,
                };
                findings.kind = kind.unwrap_or(findings.kind);
                findings.is_suspicious |= raw.len() > MAX_NAME;
                key = raw;
                continue;
            }
            Token::Number(raw) => {
                if key == b"PatternType" && raw == b"1" {
                    findings.kind = Kind::Drawing;
                }
                findings.is_suspicious |= is_extreme(raw);
            }
            Token::LiteralString(raw) | Token::HexString(raw) => {
                findings.is_suspicious |= raw.len() > MAX_STRING || (key == b"Lang" && !is_language_tag(raw));
            }
            // The data of a stream has its own syntax, or none.
            Token::Keyword(b"stream") => break,
            _ => {}
        }
        key = b"";
    }
    Ok(findings)
}

/// Quickly rules out most objects of a large document, in which the inspection would find nothing: those of the
/// structure tree are short, and have neither long runs of digits or letters nor a relevant key.
fn is_harmless(object: &[u8], keys: &[Finder]) -> bool {
    object.len() <= SHORT_OBJECT
        && !has_long_number(object)
        && !has_run(object, MAX_NAME + 1, is_regular)
        && keys.iter().all(|key| key.find(object).is_none())
}

#[derive(Default)]
struct Repaired {
    count: usize,
    /// Number of shortened strings by their key.
    shortened: BTreeMap<Vec<u8>, usize>,
    renamed: usize,
    clamped: usize,
    languages: BTreeMap<String, usize>,
}

impl Repaired {
    /// `key` is the object's key in the closest dictionary that contains it.
    fn repair(&mut self, object: &mut Object, key: &[u8]) {
        match object {
            Object::Name(name) => self.repair_name(name),
            Object::String(bytes) if bytes.len() > MAX_STRING => {
                *bytes = Cow::Owned(fit_encoded(bytes).to_vec());
                *self.shortened.entry(key.to_vec()).or_default() += 1;
                self.count += 1;
            }
            Object::Integer(_) | Object::Real(_) => {
                if let Some(number) = within_range(object) {
                    *object = number;
                    self.clamped += 1;
                    self.count += 1;
                }
            }
            Object::Array(items) => items.iter_mut().for_each(|item| self.repair(item, key)),
            Object::Dictionary(_) | Object::Stream(_) => self.repair_dictionary(object),
            _ => {}
        }
    }

    fn repair_dictionary(&mut self, object: &mut Object) {
        let Some(dictionary) = object.as_dictionary_mut() else {
            return;
        };
        let is_invalid = |value: &Object| value.as_string().is_some_and(|tag| !is_language_tag(tag));
        if dictionary.get("Lang").is_some_and(is_invalid)
            && let Some(Object::String(tag)) = dictionary.remove("Lang")
        {
            *self
                .languages
                .entry(clean(&decode(&tag)).unwrap_or_default())
                .or_default() += 1;
            self.count += 1;
        }
        for (key, value) in &mut dictionary.entries {
            self.repair_name(key);
            self.repair(value, key);
        }
    }

    /// Replaces long names, which come from long HTML ids of link targets. The same name gets the same replacement
    /// everywhere.
    fn repair_name(&mut self, name: &mut Cow<[u8]>) {
        if name.len() > MAX_NAME {
            let digest = u128::from_be_bytes(first_half(Sha256::new_with_prefix(name.as_ref())));
            *name = Cow::Owned(format!("id-{digest:032x}").into_bytes());
            self.renamed += 1;
            self.count += 1;
        }
    }

    fn report(self, warnings: &mut Warnings) {
        for (key, count) in self.shortened {
            let what = match key.as_slice() {
                b"Title" => "Entries of the outline",
                b"Alt" => "Alternative texts",
                b"ActualText" => "Replacement texts",
                b"T" => "Titles of tags",
                _ => "Texts",
            };
            let message = format!("{what} over {MAX_STRING} bytes were cut to that length: {count}.");
            warnings.add("text_shortened", message);
        }
        for (tag, count) in self.languages {
            let shown = abbreviate(&tag, 40);
            let message = format!(
                "The language “{shown}” is not a tag such as en or pt-BR and was removed; occurrences: {count}."
            );
            warnings.add("language_invalid", message);
        }
        if self.renamed > 0 {
            let message = format!(
                "Names over {MAX_NAME} bytes were replaced by shorter ones: {}.",
                self.renamed
            );
            warnings.add("name_shortened", message);
        }
        if self.clamped > 0 {
            warnings.add(
                "number_limited",
                format!(
                    "Numbers outside the range that PDF/A allows were limited to it: {}.",
                    self.clamped
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_numbers_to_the_range_of_pdf_a() {
        for (raw, expected) in [
            ("2147483647", None),
            ("2147483648", Some(Object::Integer(2_147_483_647))),
            ("-99999999999999999999999", Some(Object::Integer(-2_147_483_647))),
            ("4294967296.5", None),
            (".0000000000000000000000000000000000000000001", Some(Object::Integer(0))),
            ("0.0000000000", None),
        ] {
            let number = parse_number(raw.as_bytes()).expect("a number");
            assert_eq!(within_range(&number), expected, "{raw}");
            assert_eq!(is_extreme(raw.as_bytes()), expected.is_some(), "{raw}");
        }
    }
}
