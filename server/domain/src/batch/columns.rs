//! Columns of rows that become other members of the data, because their file has other names than the template.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter, mem,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::batch::row_reader::{DEEPEST, LONGEST_HEADER, MOST_COLUMNS};

/// Maximum length of a path, in bytes, as of a placeholder. Columns with longer ones stay as they are.
const LONGEST_PATH: usize = 200;
/// Maximum number of members that the templates of a batch offer.
const MOST_MEMBERS: usize = 1_000;
/// Maximum number of members that all columns of a page offer together, which bounds the page.
const MOST_OPTIONS: usize = 50_000;

/// Members of the data by columns, both as paths such as `customer.name`. Columns without an entry stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColumnMapping(BTreeMap<String, String>);

impl ColumnMapping {
    /// Returns the member that a column becomes; `None` if it stays as it is.
    pub fn member_of(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    /// Returns a row, a JSON object, with the members that its columns become. A member replaces what the row has in its place.
    /// Without a mapping, this is the row as it was sent, byte for byte.
    pub fn applied_to(&self, row: String) -> Result<String, serde_json::Error> {
        if self.0.is_empty() {
            return Ok(row);
        }
        let mut row: Map<String, Value> = serde_json::from_str(&row)?;
        // All columns are taken first, so that two of them can be exchanged.
        let mut taken = Vec::new();
        self.take("", &mut row, &mut taken);
        for (member, value) in taken {
            set(&mut row, member, value);
        }
        Ok(Value::Object(row).to_string())
    }

    /// Takes the columns below `prefix`, which ends with a dot, from an object, and objects that become empty.
    fn take<'a>(&'a self, prefix: &str, object: &mut Map<String, Value>, taken: &mut Vec<(&'a str, Value)>) {
        object.retain(|name, value| {
            if !is_step(name) {
                return true;
            }
            let path = format!("{prefix}{name}");
            if let Some(member) = self.member_of(&path) {
                taken.push((member, mem::take(value)));
                return false;
            }
            let inner_prefix = path + ".";
            let mut following = self.0.range(inner_prefix.clone()..);
            let has_columns = following
                .next()
                .is_some_and(|(column, _)| column.starts_with(&inner_prefix));
            match value {
                Value::Object(inner) if has_columns && !inner.is_empty() => {
                    self.take(&inner_prefix, inner, taken);
                    !inner.is_empty()
                }
                _ => true,
            }
        });
    }
}

/// Sets a member. Values on its path that are not objects are replaced by objects.
fn set(object: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((step, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value);
        return;
    };
    let inner = object.entry(step).or_insert(Value::Null);
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    if let Value::Object(inner) = inner {
        set(inner, rest, value);
    }
}

/// Returns whether a name can be a step of a path. PostgreSQL's `jsonb` rejects U+0000.
fn is_step(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_PATH && !name.contains(['.', '\0'])
}

/// The columns of a batch that has not begun, and the members that they may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchColumns {
    /// Paths of the columns of the first row, in its order.
    pub columns: Vec<String>,
    pub mapping: ColumnMapping,
    /// Members that the templates use, by their paths: whether they are required.
    pub members: BTreeMap<String, bool>,
}

impl BatchColumns {
    /// Returns the members that are offered for each column: those that templates use, and those that were chosen before.
    pub fn offered(&self) -> BTreeSet<&str> {
        let most = MOST_OPTIONS / self.columns.len().max(1);
        let used = self.members.keys().take(most);
        used.chain(self.mapping.0.values()).map(String::as_str).collect()
    }

    /// Returns the member of each column; empty if it stays as it is.
    pub fn current(&self) -> Vec<String> {
        let members = self.columns.iter().map(|column| self.mapping.member_of(column));
        members.map(|member| member.unwrap_or_default().to_owned()).collect()
    }

    /// Returns the mapping that consists of the chosen members, one for each column and empty if it stays as it is. `None` if a
    /// member is not offered, if columns collide, or if the paths have more than 16 KiB together.
    pub fn chosen(&self, members: &[String]) -> Option<ColumnMapping> {
        let offered = self.offered();
        let is_offered = |member: &String| member.is_empty() || offered.contains(member.as_str());
        if !members.iter().all(is_offered) || self.collisions(members).contains(&true) {
            return None;
        }
        let pairs = self.columns.iter().zip(members);
        let changed = pairs.filter(|(column, member)| !member.is_empty() && member != column);
        let changed: BTreeMap<_, _> = changed
            .map(|(column, member)| (column.clone(), member.clone()))
            .collect();
        let bytes: usize = changed.iter().map(|(column, member)| column.len() + member.len()).sum();
        (bytes <= LONGEST_HEADER).then_some(ColumnMapping(changed))
    }

    /// Returns whether each column would become the same member as another one, or one within the other's.
    pub fn collisions(&self, members: &[String]) -> Vec<bool> {
        let targets = self.targets(members);
        let (mut columns_of, mut outer) = (BTreeMap::new(), BTreeSet::new());
        for target in &targets {
            *columns_of.entry(*target).or_insert(0) += 1;
            outer.extend(outer_members(target));
        }
        let collides = |target: &&str| {
            columns_of[target] > 1
                || outer.contains(target)
                || outer_members(target).any(|member| columns_of.contains_key(member))
        };
        targets.iter().map(collides).collect()
    }

    /// Returns the required members that no column would become.
    pub fn missing(&self, members: &[String]) -> Vec<&str> {
        let targets: BTreeSet<_> = self.targets(members).into_iter().collect();
        let outer: BTreeSet<_> = targets.iter().flat_map(|target| outer_members(target)).collect();
        let is_missing = |member: &&str| {
            let mut with_outer = iter::once(*member).chain(outer_members(member));
            !outer.contains(member) && !with_outer.any(|member| targets.contains(member))
        };
        let required = self.members.iter().filter(|(_, is_required)| **is_required);
        required.map(|(member, _)| member.as_str()).filter(is_missing).collect()
    }

    /// Returns what each column becomes.
    fn targets<'a>(&'a self, members: &'a [String]) -> Vec<&'a str> {
        let pairs = self.columns.iter().zip(members);
        let targets = pairs.map(|(column, member)| match member.as_str() {
            "" => column.as_str(),
            member => member,
        });
        targets.collect()
    }
}

/// Returns the paths of the members that a member is within.
fn outer_members(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.').map(|(end, _)| &path[..end])
}

/// Returns the paths of the columns of a row, a JSON object, in its order: those of its members that are no objects with members.
/// Those that exceed the limits on columns are left out, and so are names that no path can contain.
pub fn columns_of(row: &str) -> Result<Vec<String>, serde_json::Error> {
    let row: Map<String, Value> = serde_json::from_str(row)?;
    let (mut columns, mut room) = (Vec::new(), LONGEST_HEADER);
    add_columns("", &row, DEEPEST, &mut columns, &mut room);
    Ok(columns)
}

/// Adds the columns below `prefix`, which ends with a dot. `room` is the number of bytes that is left for their paths.
fn add_columns(prefix: &str, object: &Map<String, Value>, levels: usize, columns: &mut Vec<String>, room: &mut usize) {
    for (name, value) in object {
        let bytes = prefix.len() + name.len();
        if !is_step(name) || bytes > LONGEST_PATH || bytes > *room || columns.len() == MOST_COLUMNS {
            continue;
        }
        let path = format!("{prefix}{name}");
        match value {
            Value::Object(inner) if !inner.is_empty() && levels > 1 => {
                add_columns(&(path + "."), inner, levels - 1, columns, room);
            }
            _ => {
                *room -= bytes;
                columns.push(path);
            }
        }
    }
}

/// Adds the members that a template uses, by the JSON schema of its data: those without members of their own. Names that no path
/// can contain are left out, and so are those with spaces.
pub fn add_members(members: &mut BTreeMap<String, bool>, schema: &Value) {
    add_members_within(members, "", schema, true, DEEPEST);
}

/// Adds members that placeholders name, which are required.
pub fn add_placeholders(members: &mut BTreeMap<String, bool>, names: impl Iterator<Item = String>) {
    for name in names {
        if members.len() < MOST_MEMBERS || members.contains_key(&name) {
            members.insert(name, true);
        }
    }
}

/// Adds the members below `prefix`, which ends with a dot.
fn add_members_within(
    members: &mut BTreeMap<String, bool>,
    prefix: &str,
    schema: &Value,
    is_required: bool,
    levels: usize,
) {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        if !is_step(name) || name.contains(char::is_whitespace) || prefix.len() + name.len() > LONGEST_PATH {
            continue;
        }
        let path = format!("{prefix}{name}");
        let is_required = is_required && required.iter().any(|required| required == name);
        if member["properties"].is_object() && levels > 1 {
            add_members_within(members, &(path + "."), member, is_required, levels - 1);
        } else if let Some(known) = members.get_mut(&path) {
            *known |= is_required;
        } else if members.len() < MOST_MEMBERS {
            members.insert(path, is_required);
        }
    }
}

#[cfg(test)]
mod tests {
    use platen_template::analysis;
    use serde_json::json;

    use super::*;

    fn mapping(pairs: Value) -> ColumnMapping {
        serde_json::from_value(pairs).expect("texts by texts")
    }

    fn applied(pairs: Value, row: &Value) -> Value {
        let row = mapping(pairs).applied_to(row.to_string()).expect("a row");
        serde_json::from_str(&row).expect("JSON")
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn without_a_mapping_a_row_stays_byte_for_byte() {
        let row = r#"{"b": 1.10,  "a": {}}"#;
        assert_eq!(mapping(json!({})).applied_to(row.to_owned()).expect("a row"), row);
    }

    #[test]
    fn columns_become_members() {
        let row = json!({"Nr": 17, "Name": "Ann", "city": "Bern", "order": {"id": 1, "sum": {"net": "5"}}});
        let pairs = json!({"Nr": "number", "Name": "customer.name", "city": "customer.city", "order.sum.net": "total"});
        assert_eq!(
            applied(pairs, &row),
            json!({
                "order": {"id": 1}, "number": 17, "customer": {"name": "Ann", "city": "Bern"}, "total": "5",
            })
        );
        // Only what a row has becomes something, and objects that become empty disappear.
        let pairs = json!({"a.b": "c", "d": "e", "f": "a.x"});
        assert_eq!(
            applied(pairs.clone(), &json!({"a": {"b": [1]}, "g": {}})),
            json!({"g": {}, "c": [1]})
        );
        assert_eq!(applied(pairs, &json!({"a": {}})), json!({"a": {}}));
    }

    #[test]
    fn columns_are_exchanged_and_replace_what_is_in_their_place() {
        let pairs = json!({"a": "b", "b": "a"});
        assert_eq!(applied(pairs, &json!({"a": 1, "b": 2})), json!({"b": 1, "a": 2}));
        let pairs = json!({"a": "b.c", "d": "e"});
        assert_eq!(
            applied(pairs, &json!({"a": 1, "b": "text", "d": 2, "e": 3})),
            json!({"b": {"c": 1}, "e": 2})
        );
        let pairs = json!({"a": "a.b"});
        assert_eq!(applied(pairs, &json!({"a": 1})), json!({"a": {"b": 1}}));
        // A name with a dot is no path.
        assert_eq!(
            applied(json!({"a.b": "c"}), &json!({"a.b": 1, "": 2})),
            json!({"a.b": 1, "": 2})
        );
    }

    #[test]
    fn columns_are_the_innermost_members_of_a_row() {
        let row = json!({
            "number": 1, "customer": {"name": "Ann", "tags": ["a"], "none": {}}, "a.b": 1, "": 2, "n\u{0}": 3,
            "x".repeat(LONGEST_PATH + 1): 4,
        });
        let columns = columns_of(&row.to_string()).expect("a row");
        assert_eq!(columns, ["number", "customer.name", "customer.tags", "customer.none"]);
        let deep = (0..2 * DEEPEST).fold(json!(1), |inner, _| json!({"a": inner}));
        assert_eq!(
            columns_of(&deep.to_string()).expect("a row"),
            [["a"; DEEPEST].join(".")]
        );
    }

    #[test]
    fn the_number_and_size_of_columns_are_limited() {
        let many: Map<_, _> = (0..2 * MOST_COLUMNS)
            .map(|number| (number.to_string(), json!(1)))
            .collect();
        let columns = columns_of(&Value::Object(many).to_string()).expect("a row");
        assert_eq!(columns.len(), MOST_COLUMNS);
        let long: Map<_, _> = (0..MOST_COLUMNS)
            .map(|number| (format!("{number:0>100}"), json!(1)))
            .collect();
        let columns = columns_of(&Value::Object(long).to_string()).expect("a row");
        assert_eq!(columns.len(), LONGEST_HEADER / 100);
    }

    #[test]
    fn members_are_those_that_templates_use() {
        let template = "{{ number|number }}{{ customer.name }}{% if note %}{{ note }}{% endif %}
             {% for line in lines %}{{ line.text }}{% endfor %}";
        let mut members = BTreeMap::new();
        add_members(&mut members, &analysis::schema(template).expect("a template"));
        let names: Vec<_> = members.keys().map(String::as_str).collect();
        // The locale is that of numbers.
        assert_eq!(names, ["customer.name", "lines", "locale", "note", "number"]);
        assert!(members["number"] && !members["note"], "{members:?}");
        let other = json!({"properties": {"note": {}, "two words": {}}, "required": ["note"]});
        add_members(&mut members, &other);
        assert!(members["note"] && members.len() == 5, "{members:?}");
    }

    #[test]
    fn columns_that_collide_are_named() {
        let columns = BatchColumns {
            columns: owned(&["Nr", "Name", "customer", "total"]),
            mapping: ColumnMapping::default(),
            members: ["customer.name", "number", "total", "vat"]
                .map(|member| (member.to_owned(), true))
                .into(),
        };
        let first = owned(&["number", "", "customer.name", ""]);
        assert_eq!(
            columns.chosen(&first),
            Some(mapping(json!({"Nr": "number", "customer": "customer.name"})))
        );
        assert_eq!(columns.missing(&first), ["vat"]);
        for (members, collisions) in [
            (["number", "number", "", ""], [true, true, false, false]),
            (["", "customer.name", "", ""], [false, true, true, false]),
            (["total", "", "", ""], [true, false, false, true]),
            (["", "", "", "total"], [false; 4]),
        ] {
            let members = owned(&members);
            assert_eq!(columns.collisions(&members), collisions, "{members:?}");
            assert_eq!(columns.chosen(&members).is_none(), collisions.contains(&true));
        }
        assert_eq!(columns.chosen(&owned(&["none", "", "", ""])), None, "not offered");
        let stored = BatchColumns {
            mapping: mapping(json!({"Nr": "number"})),
            ..columns
        };
        assert_eq!(stored.current(), ["number", "", "", ""]);
    }

    #[test]
    fn the_options_of_a_page_are_limited() {
        let columns = BatchColumns {
            columns: (0..MOST_COLUMNS).map(|number| number.to_string()).collect(),
            mapping: ColumnMapping::default(),
            members: (0..MOST_MEMBERS).map(|number| (format!("m{number}"), false)).collect(),
        };
        assert_eq!(columns.offered().len(), MOST_OPTIONS / MOST_COLUMNS);
    }
}
