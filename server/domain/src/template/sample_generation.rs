//! Sample data for a template: values for everything that it uses and that the data lacks, by the inferred schema of its
//! context.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Maximum number of values that are added. A template that uses more is too large to be filled by hand anyway.
const MOST_VALUES: usize = 2000;
/// Number of items of a list, so that what separates items shows.
const ITEMS: usize = 2;
/// Names of the members of an object whose members the template iterates over.
const MEMBERS: [&str; ITEMS] = ["first", "second"];
const DATE: &str = "2027-01-31";
const DATE_AND_TIME: &str = "2027-01-31T09:30:00Z";
const NUMBER: u32 = 10;
/// Variables with which filters are set, and which have defaults.
const SETTINGS: [&str; 2] = ["locale", "time_zone"];
/// Filters of numbers.
const NUMBER_FILTERS: [&str; 8] = [
    "number", "percent", "currency", "plural", "int", "float", "round", "abs",
];
/// Filters of texts that also accept numbers.
const TEXT_FILTERS: [&str; 5] = ["barcode", "e", "escape", "qrcode", "urlencode"];

/// Returns the data with the values that it lacks. Existing values stay, except that members are added to objects and to
/// the items of lists. `schema` is the JSON schema that was inferred from the template.
pub fn complete(template: &str, schema: &Value, data: Map<String, Value>) -> Map<String, Value> {
    let mut generator = Generator {
        filters: filters(template),
        values: 0,
    };
    let added_settings = SETTINGS.map(|name| (!data.contains_key(name)).then_some(name));
    let mut data = Value::Object(data);
    generator.complete(&mut data, schema);
    match data {
        Value::Object(mut data) => {
            data.retain(|name, _| !added_settings.contains(&Some(name)));
            data
        }
        _ => Map::new(),
    }
}

struct Generator<'a> {
    filters: HashMap<&'a str, Vec<&'a str>>,
    /// Number of added values.
    values: usize,
}

impl Generator<'_> {
    /// Completes an existing value.
    fn complete(&mut self, value: &mut Value, schema: &Value) {
        match value {
            Value::Object(members) => {
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    match members.get_mut(name) {
                        Some(member) => self.complete(member, schema),
                        None => {
                            if let Some(value) = self.value(name, schema) {
                                members.insert(name.clone(), value);
                            }
                        }
                    }
                }
                if let Some(schema) = schema.get("additionalProperties") {
                    for member in members.values_mut() {
                        self.complete(member, schema);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.complete(item, &schema["items"]);
                }
            }
            _ => {}
        }
    }

    /// Returns a new value, or `None` if there are too many. `name` is that of its member.
    fn value(&mut self, name: &str, schema: &Value) -> Option<Value> {
        if self.values >= MOST_VALUES {
            return None;
        }
        self.values += 1;
        if schema.get("properties").is_some() || schema.get("additionalProperties").is_some() {
            let mut object = Value::Object(Map::new());
            if let (Some(schema), Some(members)) = (schema.get("additionalProperties"), object.as_object_mut()) {
                for name in MEMBERS {
                    members.extend(self.value(name, schema).map(|value| (name.to_owned(), value)));
                }
            }
            self.complete(&mut object, schema);
            return Some(object);
        }
        if is_of(schema, "array") {
            let items = (0..ITEMS).filter_map(|_| self.value(singular(name), &schema["items"]));
            return Some(items.collect());
        }
        Some(self.scalar(name, schema))
    }

    fn scalar(&self, name: &str, schema: &Value) -> Value {
        let filters = self.filters.get(name).map_or(&[][..], Vec::as_slice);
        let has = |known: &[&str]| filters.iter().any(|filter| known.contains(filter));
        let (number, text, boolean) = (
            is_of(schema, "number"),
            is_of(schema, "string"),
            is_of(schema, "boolean"),
        );
        let lower = name.to_lowercase();
        let ends = |with: &[&str]| with.iter().any(|with| lower.ends_with(with));
        let begins = |with: &[&str]| with.iter().any(|with| lower.starts_with(with));
        if has(&["datetime", "time"]) {
            DATE_AND_TIME.into()
        } else if has(&["date"]) || (text && ends(&["date", "_at", "_on"])) {
            DATE.into()
        } else if has(&NUMBER_FILTERS) || (number && !boolean && !has(&TEXT_FILTERS)) {
            NUMBER.into()
        } else if (boolean && !text) || begins(&["is_", "has_", "show_"]) {
            true.into()
        } else {
            readable(name).into()
        }
    }
}

/// Returns whether a schema allows a type.
fn is_of(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|allowed| allowed == kind),
        _ => false,
    }
}

/// Returns the filters that are applied to each name, such as `date` in `{{ order.due|date }}`.
fn filters(template: &str) -> HashMap<&str, Vec<&str>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut found: HashMap<&str, Vec<&str>> = HashMap::new();
    for (at, _) in template.match_indices('|') {
        let before = template[..at].trim_end();
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, character)| is_word(*character))
            .last();
        let after = template[at + 1..].trim_start();
        let end = after.find(|character| !is_word(character)).unwrap_or(after.len());
        if let Some((start, _)) = start
            && end > 0
        {
            found.entry(&before[start..]).or_default().push(&after[..end]);
        }
    }
    found
}

/// Returns the name of an item of a list: `line` for `lines`.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Returns a text such as `Unit price` for `unit_price` or `unitPrice`.
fn readable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character == '_' || character == '-' {
            text.push(' ');
        } else if character.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
            text.extend(character.to_lowercase());
        } else if text.is_empty() {
            text.extend(character.to_uppercase());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use platen_template::analysis::schema;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn assert_completed(template: &str, data: Value, expected: &Value) {
        let schema = schema(template).expect("a template");
        let Value::Object(data) = data else { panic!("{data}") };
        assert_eq!(&Value::Object(complete(template, &schema, data)), expected, "{schema}");
    }

    #[test]
    fn everything_that_the_template_uses_gets_a_value() {
        assert_completed(
            "{{ customer.full_name }}, {{ due|date }}, {{ total|currency('EUR') }}, {{ net * 2 }}
             {% for line in lines %}{{ line.unitPrice|number(2) }}: {{ line.text }}{% endfor %}
             {% for name, value in rates.items() %}{{ name }}{{ value|percent }}{% endfor %}",
            json!({}),
            &json!({
                "customer": {"full_name": "Full name"},
                "due": "2027-01-31",
                "total": 10,
                "net": 10,
                "lines": [{"unitPrice": 10, "text": "Text"}, {"unitPrice": 10, "text": "Text"}],
                "rates": {"first": 10, "second": 10},
            }),
        );
    }

    #[test]
    fn what_is_there_stays() {
        let data = json!({"b": null, "lines": [{"text": "Pens"}, 7], "none": [], "own": 1, "customer": "Ann"});
        assert_completed(
            "{{ a }}{{ b }}{{ customer.name }}{% for line in lines %}{{ line.text }}{{ line.order_date }}{% endfor %}
             {% for item in none %}{{ item.x }}{% endfor %}",
            data,
            &json!({
                "b": null,
                "lines": [{"text": "Pens", "order_date": "2027-01-31"}, 7],
                "none": [],
                "own": 1,
                "customer": "Ann",
                "a": "A",
            }),
        );
    }

    #[test]
    fn the_number_of_values_is_limited() {
        let names: Vec<_> = (0..3000).map(|number| format!("{{{{ a{number} }}}}")).collect();
        let template = names.concat();
        let schema = schema(template.as_str()).expect("a template");
        assert_eq!(complete(&template, &schema, Map::new()).len(), MOST_VALUES);
    }

    #[test]
    fn names_become_texts() {
        for (name, text) in [
            ("unit_price", "Unit price"),
            ("unitPrice", "Unit price"),
            ("VAT", "VAT"),
            ("ä", "Ä"),
        ] {
            assert_eq!(readable(name), text);
        }
    }
}
