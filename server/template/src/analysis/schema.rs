//! Shapes as a JSON schema.

use serde_json::{Map, Value, json};

use super::shape::{Shape, ShapeId, Shapes};

/// Limit on levels of members and elements. Each takes two levels of JSON, and parsers stop at 128.
const DEEPEST: usize = 50;

/// Returns the schema of the context.
pub(super) fn of(shapes: &Shapes) -> Value {
    let mut schema = Map::from_iter([(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    )]);
    schema.insert("type".to_owned(), json!("object"));
    if let Some(root) = shapes.get(Shapes::ROOT) {
        add_members(&mut schema, shapes, root, DEEPEST);
    }
    Value::Object(schema)
}

/// Returns the schema of one shape with `levels` levels below it. Values below the last level are unrestricted.
fn of_shape(shapes: &Shapes, id: ShapeId, levels: usize) -> Value {
    let mut schema = Map::new();
    let Some(shape) = shapes.get(id).filter(|_| levels > 0) else {
        return Value::Object(schema);
    };
    let mut types: Vec<&str> = if !shape.members.is_empty() || shape.values.is_some() {
        vec!["object"]
    } else if shape.elements.is_some() {
        vec!["array"]
    } else {
        shape.types.iter().flat_map(|types| types.names()).collect()
    };
    if shape.asked_for && !types.is_empty() {
        types.push("null");
    }
    match types.as_slice() {
        [] => {}
        [one] => {
            schema.insert("type".to_owned(), json!(one));
        }
        several => {
            schema.insert("type".to_owned(), json!(several));
        }
    }
    if !shape.members.is_empty() || shape.values.is_some() {
        add_members(&mut schema, shapes, shape, levels);
    } else if let Some(elements) = shape.elements {
        schema.insert("items".to_owned(), of_shape(shapes, elements, levels - 1));
    }
    Value::Object(schema)
}

fn add_members(schema: &mut Map<String, Value>, shapes: &Shapes, shape: &Shape, levels: usize) {
    let properties: Map<String, Value> = shape
        .members
        .iter()
        .map(|(name, id)| (name.clone(), of_shape(shapes, *id, levels - 1)))
        .collect();
    let required: Vec<&String> = shape
        .members
        .iter()
        .filter(|(_, id)| shapes.get(*id).is_some_and(|member| member.needed && !member.asked_for))
        .map(|(name, _)| name)
        .collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if let Some(values) = shape.values {
        schema.insert("additionalProperties".to_owned(), of_shape(shapes, values, levels - 1));
    }
}
