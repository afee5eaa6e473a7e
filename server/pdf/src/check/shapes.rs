//! The dictionaries and streams that Chromium writes and completion adds, each with all keys that it may have. This is
//! an allow-list: anything that is not listed is not known to conform. Named and ordered as in ISO 32000-1.

pub(super) mod document;
mod fonts;
mod graphics;
mod structure;

use crate::lexer::{Lexer, Token, decode_name};
use crate::parse::parse_number;

/// A kind of dictionary or stream.
pub(super) struct Shape {
    /// Name for display.
    pub(super) name: &'static str,
    /// Clause of ISO 19005-2 that violations are reported under.
    pub(super) clause: &'static str,
    pub(super) form: Form,
    pub(super) role: Role,
    /// Known keys. The first distinguishes this shape from others that are allowed in the same place.
    pub(super) entries: &'static [Entry],
    /// Values allowed under other keys, if the document chooses those.
    pub(super) others: &'static [Value],
}

/// Key, presence, and allowed values.
pub(super) type Entry = (&'static str, Presence, &'static [Value]);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Dictionary,
    Stream,
    Either,
}

/// Further checks that a shape needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Nothing,
    PageTreeNode,
    Page,
    /// A content stream with its own resources: a form `XObject` or a tiling pattern.
    Drawing,
    CompositeFont,
    Type3Font,
    ColourProfile,
}

/// An allowed value. Dictionaries and arrays may be direct or referenced.
pub(super) enum Value {
    Null,
    Boolean,
    Integer,
    Among(&'static [i64]),
    Number,
    Text,
    Name(&'static [&'static str]),
    AnyName,
    /// An array whose items are each one of these.
    Array(&'static [Value]),
    /// A dictionary or stream of one of these shapes.
    Dictionary(&'static [&'static Shape]),
    /// A reference to an object that is reached and checked through another one.
    Elsewhere,
    /// Any syntactically valid value, in unreferenced objects.
    Anything,
}

const FLATE: &[Value] = &[Value::Name(&["FlateDecode"])];
const NUMBERS: &[Value] = &[Value::Array(&[Value::Number])];
const INTEGERS: &[Value] = &[Value::Array(&[Value::Integer])];
/// A page and how to show it (12.3.2).
const DESTINATION: Value = Value::Array(&[Value::Elsewhere, Value::AnyName, Value::Number, Value::Null]);

/// Allowed values of an unreferenced object: it is never shown, but its syntax must be valid (6.1).
pub(super) static UNUSED: &[Value] = &[Value::Anything];

impl Shape {
    const fn dictionary(name: &'static str, clause: &'static str) -> Self {
        Self {
            name,
            clause,
            form: Form::Dictionary,
            role: Role::Nothing,
            entries: &[],
            others: &[],
        }
    }

    const fn stream(name: &'static str, clause: &'static str) -> Self {
        let form = Form::Stream;
        Self {
            form,
            ..Self::dictionary(name, clause)
        }
    }

    const fn dictionary_or_stream(name: &'static str, clause: &'static str) -> Self {
        let form = Form::Either;
        Self {
            form,
            ..Self::dictionary(name, clause)
        }
    }

    const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    const fn entries(self, entries: &'static [Entry]) -> Self {
        Self { entries, ..self }
    }

    const fn others(self, others: &'static [Value]) -> Self {
        Self { others, ..self }
    }

    /// Returns the index and entry of a key.
    pub(super) fn find(&'static self, key: &[u8]) -> Option<(usize, &'static Entry)> {
        self.entries
            .iter()
            .enumerate()
            .find(|(_, (name, ..))| name.as_bytes() == key)
    }

    pub(super) fn is_among(&'static self, values: &[Value]) -> bool {
        let mut shapes = values.iter().filter_map(Value::shapes).flatten();
        shapes.any(|shape| std::ptr::eq(*shape, self))
    }

    /// Returns the shape whose first entry matches the dictionary that the lexer has just entered.
    pub(super) fn choose(shapes: &'static [&'static Self], lexer: &Lexer) -> Option<&'static Self> {
        if let [only] = shapes {
            return Some(only);
        }
        let is_chosen = |shape: &&&'static Self| {
            let Some((key, _, values)) = shape.entries.first() else {
                return false;
            };
            match first_token(lexer.clone(), key) {
                Some(Token::Name(raw)) => values.iter().any(|value| value.allows_name(&decode_name(raw))),
                Some(Token::Number(raw)) => values.iter().any(|value| value.allows_number(raw)),
                _ => false,
            }
        };
        shapes.iter().find(is_chosen).copied()
    }
}

impl Value {
    pub(super) fn may_be_reference(&self) -> bool {
        matches!(
            self,
            Self::Dictionary(_) | Self::Array(_) | Self::Elsewhere | Self::Anything
        )
    }

    /// Returns whether a referenced object is checked through another one.
    pub(super) fn is_checked_elsewhere(&self) -> bool {
        matches!(self, Self::Elsewhere | Self::Anything)
    }

    /// Returns whether all integers are allowed.
    pub(super) fn is_any_integer(&self) -> bool {
        matches!(self, Self::Integer | Self::Number | Self::Anything)
    }

    pub(super) fn allows_number(&self, raw: &[u8]) -> bool {
        let is_integer = || !raw.contains(&b'.');
        match self {
            Self::Number | Self::Anything => true,
            Self::Integer => is_integer(),
            Self::Among(allowed) => {
                let value = parse_number(raw).and_then(|number| number.as_integer());
                value.is_some_and(|value| allowed.contains(&value))
            }
            _ => false,
        }
    }

    pub(super) fn allows_name(&self, name: &[u8]) -> bool {
        match self {
            Self::AnyName | Self::Anything => true,
            Self::Name(allowed) => allowed.iter().any(|allowed| allowed.as_bytes() == name),
            _ => false,
        }
    }

    pub(super) fn items(&self) -> Option<&'static [Self]> {
        match self {
            Self::Array(items) => Some(items),
            Self::Anything => Some(UNUSED),
            _ => None,
        }
    }

    pub(super) fn shapes(&self) -> Option<&'static [&'static Shape]> {
        match self {
            Self::Dictionary(shapes) => Some(shapes),
            _ => None,
        }
    }
}

/// Returns the first token of the value under a key of the dictionary that the lexer has entered.
fn first_token<'a>(mut lexer: Lexer<'a>, key: &str) -> Option<Token<'a>> {
    let mut depth = 0_usize;
    while let Ok(Some((_, token))) = lexer.next_token() {
        match token {
            Token::DictionaryStart | Token::ArrayStart => depth += 1,
            Token::DictionaryEnd | Token::ArrayEnd => depth = depth.checked_sub(1)?,
            Token::Name(raw) if depth == 0 && raw == key.as_bytes() => return Some(lexer.next_token().ok()??.1),
            _ => {}
        }
    }
    None
}
