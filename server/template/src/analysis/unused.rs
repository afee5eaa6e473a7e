//! Names in a context that a template never uses.

use minijinja::{Value, value::ValueKind};

use super::shape::{ShapeId, Shapes};

/// Limit on reported names; longer lists are not helpful.
const MOST_NAMES: usize = 200;

/// Returns the unused names in the order of the context.
pub(super) fn in_context(shapes: &Shapes, context: &Value) -> Vec<String> {
    let mut found = Found {
        shapes,
        names: Vec::new(),
    };
    found.members(Shapes::ROOT, context, "");
    found.names
}

struct Found<'a> {
    shapes: &'a Shapes,
    names: Vec<String>,
}

impl Found<'_> {
    fn value(&mut self, id: ShapeId, value: &Value, path: &str) {
        let Some(shape) = self.shapes.get(id).filter(|shape| !shape.whole) else {
            return;
        };
        match value.kind() {
            ValueKind::Map if !shape.members.is_empty() || shape.values.is_some() => self.members(id, value, path),
            ValueKind::Seq => {
                let Some(elements) = shape.elements else {
                    return;
                };
                for element in value.try_iter().into_iter().flatten() {
                    self.value(elements, &element, &format!("{path}[]"));
                }
            }
            _ => {}
        }
    }

    fn members(&mut self, id: ShapeId, value: &Value, path: &str) {
        let Some(shape) = self.shapes.get(id) else {
            return;
        };
        for name in value.try_iter().into_iter().flatten() {
            let Ok(member) = value.get_item(&name) else {
                continue;
            };
            let path = if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            };
            let known = shape
                .members
                .iter()
                .find(|(known, _)| Some(known.as_str()) == name.as_str());
            match known.map(|(_, id)| *id).or(shape.values) {
                Some(id) => self.value(id, &member, &path),
                // Every element of a list may have the same unused member.
                None if self.names.len() < MOST_NAMES && !self.names.contains(&path) => self.names.push(path),
                None => {}
            }
        }
    }
}
