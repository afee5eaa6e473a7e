//! The dictionaries and streams that Chromium writes and that completion adds, each with all the keys that it may have.
//! This is an allow-list: what is not here is not known to conform. Named and ordered as in ISO 32000-1.

pub(super) mod document;
mod fonts;
mod graphics;
mod structure;

use crate::lexer::{Lexer, Token, decode_name};
use crate::parse::parse_number;

/// A kind of dictionary or stream.
pub(super) struct Shape {
    /// For people.
    pub(super) name: &'static str,
    /// Of ISO 19005-2, for what is wrong with it.
    pub(super) clause: &'static str,
    pub(super) form: Form,
    pub(super) role: Role,
    /// The first one tells this shape from others that may stand in the same place.
    pub(super) entries: &'static [Entry],
    /// What may stand under other keys, where the document chooses them.
    pub(super) others: &'static [Value],
}

/// Key, presence, and what may stand there.
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

/// What else is to be checked of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Nothing,
    PageTreeNode,
    Page,
    /// A stream of operators with resources of its own: a form `XObject` or a tiling pattern.
    Drawing,
    CompositeFont,
    Type3Font,
    ColourProfile,
}

/// What may stand in a place. Dictionaries and arrays may be given by reference.
pub(super) enum Value {
    Null,
    Boolean,
    Integer,
    Among(&'static [i64]),
    Number,
    Text,
    Name(&'static [&'static str]),
    AnyName,
    /// Each item is one of these.
    Array(&'static [Value]),
    /// One of these.
    Dictionary(&'static [&'static Shape]),
    /// A reference to an object that is reached, and checked, by another way.
    Elsewhere,
    /// Whatever keeps to the syntax, in objects that nothing refers to.
    Anything,
}

/// What shapes have in common.
const BASE: Shape = Shape {
    name: "",
    clause: "",
    form: Form::Dictionary,
    role: Role::Nothing,
    entries: &[],
    others: &[],
};

const FLATE: &[Value] = &[Value::Name(&["FlateDecode"])];
const NUMBERS: &[Value] = &[Value::Array(&[Value::Number])];
const INTEGERS: &[Value] = &[Value::Array(&[Value::Integer])];
/// A page and how to look at it (12.3.2).
const DESTINATION: Value = Value::Array(&[Value::Elsewhere, Value::AnyName, Value::Number, Value::Null]);

/// An object that nothing refers to is never shown, but the syntax counts for it as well (6.1).
pub(super) static UNUSED: &[Value] = &[Value::Anything];

impl Shape {
    /// The entry of a key, and which one it is.
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

    /// The shape whose first entry is as in the dictionary that the lexer has just entered.
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

    /// Whether what is referred to here is checked on another way.
    pub(super) fn is_checked_elsewhere(&self) -> bool {
        matches!(self, Self::Elsewhere | Self::Anything)
    }

    /// Whether all integers may stand here.
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

/// The first token of what stands under a key of the dictionary that the lexer has entered.
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
