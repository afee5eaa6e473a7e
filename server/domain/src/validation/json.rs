//! JSON (RFC 8259), parsed in bounded memory.
//!
//! A body is read twice. [`scan`] builds no values: it searches for syntax errors and exceeded limits, so that the size
//! of a body affects only the time that this takes. Only then does [`build`] create values, whose number is limited by
//! then. Data for templates is not parsed here, and remains as it was sent.

mod path;
mod scan;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, fmt};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value, value::RawValue};

use crate::validation::{
    Problem, Problems,
    json::path::{Path, Region, Step},
};

/// Maximum number of values in a body, apart from data for templates. The largest sensible request has a few hundred.
pub const MOST_VALUES: usize = 10_000;
/// Maximum number of values in the data of one request: 2,000 pages of fifty lines with ten values each.
pub const MOST_DATA_VALUES: usize = 1_000_000;
/// Maximum length of a member's name in UTF-8, in bytes. Names become part of pointers.
pub const LONGEST_NAME: usize = 4096;

/// The structure and limits of a kind of body.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The path to members that contain data for templates, with `*` for any item; empty if there are none.
    pub data: &'static [&'static str],
    /// Maximum number of values in all data.
    pub data_values: usize,
    /// The member that is an array of limited length, and the limit.
    pub list: Option<(&'static str, usize)>,
}

impl Layout {
    /// A body of a few values.
    pub const PLAIN: Self = Self {
        data: &[],
        data_values: 0,
        list: None,
    };
}

/// A parsed body. Data is replaced by an empty value of the same type.
#[derive(Debug)]
pub struct Body<'a> {
    pub value: Value,
    /// The data for templates.
    pub data: Data<'a>,
}

/// JSON that is passed on as it was sent, by JSON pointer.
#[derive(Debug, Default)]
pub struct Data<'a>(HashMap<String, &'a RawValue>);

impl<'a> Data<'a> {
    /// Returns the data of the member at a JSON pointer.
    pub fn get(&self, pointer: &str) -> Option<&'a RawValue> {
        self.0.get(pointer).copied()
    }
}

/// Parses a document in UTF-8. Text that can't be parsed (including numbers beyond a double, lone surrogates, `NaN`,
/// and more than 127 levels of nesting) adds one error at `""`; an exceeded limit adds one error at its member. In both
/// cases the result is `None`. Each duplicate member adds an error of its own.
pub fn parse<'a>(text: &'a [u8], layout: &Layout, problems: &mut Problems) -> Option<Body<'a>> {
    match read(text, layout) {
        Ok((repeated, body)) => {
            *problems = repeated;
            Some(body)
        }
        Err(Unreadable::Excess(problem)) => {
            problems.add(problem);
            None
        }
        Err(Unreadable::Malformed(error)) => {
            problems.add(Problem {
                pointer: String::new(),
                title: "Malformed JSON".into(),
                detail: format!("Must be JSON in UTF-8: {error}"),
            });
            None
        }
    }
}

/// Parses a document like [`parse`]. Also returns the error of each duplicate member.
pub fn read<'a>(text: &'a [u8], layout: &Layout) -> Result<(Problems, Body<'a>), Unreadable> {
    let repeated = scan::scan(text, layout, Region::of(layout))?;
    let body = build(text, layout).map_err(Unreadable::Malformed)?;
    Ok((repeated, body))
}

/// Why a text can't be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The text is not JSON.
    Malformed(serde_json::Error),
    /// The text exceeds a limit.
    Excess(Problem),
}

/// Reads data that is not part of a body, such as an editor's, within the limits of [`parse`]. Of duplicate members the
/// last one counts.
pub fn read_data(text: &str, most_values: usize) -> Result<&RawValue, Unreadable> {
    let layout = Layout {
        data_values: most_values,
        ..Layout::PLAIN
    };
    scan::scan(text.as_bytes(), &layout, Region::Data)?;
    serde_json::from_str(text).map_err(Unreadable::Malformed)
}

/// Parses a document whose limits have been checked. Of duplicate members the first one counts.
pub fn build<'a>(text: &'a [u8], layout: &Layout) -> Result<Body<'a>, serde_json::Error> {
    let mut data = HashMap::new();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let builder = Builder {
        path: &Path::Root,
        region: Region::of(layout),
        data: &mut data,
    };
    let value = builder.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Body {
        value,
        data: Data(data),
    })
}

/// Copies JSON without the whitespace between values, which can be most of it.
pub fn compact(json: &RawValue) -> Box<RawValue> {
    let text = json.get();
    let mut copy = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut from) = (false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\n' | b'\r' if !in_string => {
                copy.push_str(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    copy.push_str(&text[from..]);
    RawValue::from_string(copy).unwrap_or_else(|_| json.to_owned())
}

/// Returns an object without members.
pub fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}

/// A value that is still to be parsed, and its position.
struct Builder<'p, 'm, 'de> {
    path: &'p Path<'p>,
    region: Region,
    data: &'m mut HashMap<String, &'de RawValue>,
}

impl<'de> Builder<'_, '_, 'de> {
    fn below<'p, 'm>(&'m mut self, path: &'p Path<'p>) -> Builder<'p, 'm, 'de> {
        Builder {
            region: self.region.enter(path),
            path,
            data: self.data,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Builder<'_, '_, 'de> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.region != Region::Data {
            return deserializer.deserialize_any(self);
        }
        let raw = <&RawValue>::deserialize(deserializer)?;
        self.data.entry(self.path.pointer()).or_insert(raw);
        Ok(empty_value_like(raw.get()))
    }
}

fn empty_value_like(json: &str) -> Value {
    match json.as_bytes().first() {
        Some(b'{') => Map::new().into(),
        Some(b'[') => Vec::<Value>::new().into(),
        Some(b'"') => "".into(),
        Some(b't' | b'f') => false.into(),
        Some(b'n') | None => Value::Null,
        Some(_) => 0.into(),
    }
}

impl<'de> Visitor<'de> for Builder<'_, '_, 'de> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let (mut array, parent) = (Vec::new(), self.path);
        while let Some(value) = items.next_element_seed(self.below(&Path::Below(parent, Step::Item(array.len()))))? {
            array.push(value);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let (mut object, parent) = (Map::new(), self.path);
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self.below(&Path::Below(parent, Step::Member(&name))))?;
            object.entry(name).or_insert(value);
        }
        Ok(object.into())
    }
}
