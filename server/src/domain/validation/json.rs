//! JSON as RFC 8259 has it, and members named twice told apart.

use std::{cell::RefCell, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::domain::validation::{Fault, Faults, member};

/// Reads a document in UTF-8. What can't be read at all (also numbers beyond a double, lone surrogates, `NaN`, more than
/// 127 levels of nesting) is one fault at `""`; each member that is named twice is a fault of its own.
pub fn parse(text: &[u8], faults: &mut Faults) -> Option<Value> {
    let repeated = RefCell::new(Faults::default());
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let node = Node {
        pointer: String::new(),
        repeated: &repeated,
    };
    match node
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
    {
        Ok(value) => {
            *faults = repeated.into_inner();
            Some(value)
        }
        Err(error) => {
            faults.add(Fault {
                pointer: String::new(),
                title: "Malformed JSON".into(),
                detail: format!("Must be JSON in UTF-8: {error}"),
            });
            None
        }
    }
}

/// A value yet to be read, and where it lies.
struct Node<'a> {
    pointer: String,
    repeated: &'a RefCell<Faults>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
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

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(value) = items.next_element_seed(Node {
            pointer: format!("{}/{}", self.pointer, array.len()),
            repeated: self.repeated,
        })? {
            array.push(value);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let pointer = member(&self.pointer, &name);
            let value = members.next_value_seed(Node {
                pointer: pointer.clone(),
                repeated: self.repeated,
            })?;
            if object.contains_key(&name) {
                self.repeated.borrow_mut().add(Fault {
                    pointer,
                    title: "Duplicate field".into(),
                    detail: "Must be given only once".into(),
                });
            } else {
                object.insert(name, value);
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;

    fn read(text: impl AsRef<[u8]>) -> (Option<Value>, Vec<(String, &'static str)>) {
        let mut faults = Faults::default();
        let value = parse(text.as_ref(), &mut faults);
        let listed = faults.sorted(value.as_ref().unwrap_or(&Value::Null));
        let told = listed.into_iter().map(|fault| match fault.title {
            Cow::Borrowed(title) => (fault.pointer, title),
            Cow::Owned(title) => panic!("{title} is no title of ours"),
        });
        (value, told.collect())
    }

    #[test]
    fn a_sound_document_is_read_in_order() {
        let text = r#"{"b": [1, -2, 0.5, null, true, "x\u00e4"], "a": {}}"#;
        let (value, faults) = read(text);
        let value = value.expect("sound");
        assert_eq!(value, json!({"b": [1, -2, 0.5, null, true, "xä"], "a": {}}));
        assert_eq!(
            value.as_object().expect("object").keys().collect::<Vec<_>>(),
            ["b", "a"]
        );
        assert!(faults.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_one_fault_of_the_whole_body() {
        let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let huge = "9".repeat(400);
        let broken: [&[u8]; 15] = [
            b"",
            b"{",
            b"{}{}",
            b"{\"a\": NaN}",
            b"{\"a\": Infinity}",
            b"{\"a\": 1e999}",
            huge.as_bytes(),
            nested.as_bytes(),
            br#""\ud800""#,
            br#""\udc00\ud800""#,
            b"\"\xff\"",
            b"\xff\xfe{\0}\0",
            b"{'a': 1}",
            b"{\"a\": 1,}",
            b"\"a\nb\"",
        ];
        for text in broken {
            let (value, faults) = read(text);
            assert_eq!(value, None, "{}", String::from_utf8_lossy(text));
            assert_eq!(faults, [(String::new(), "Malformed JSON")]);
        }
    }

    #[test]
    fn members_named_twice_are_faults_where_they_are() {
        let (value, faults) = read(r#"{"a": 1, "b": [{"x/y": 1, "x/y": 2, "x/y": 3}], "a": 2}"#);
        assert_eq!(value, Some(json!({"a": 1, "b": [{"x/y": 1}]})));
        assert_eq!(
            faults,
            [
                ("/a".into(), "Duplicate field"),
                ("/b/0/x~1y".into(), "Duplicate field")
            ]
        );
    }
}
