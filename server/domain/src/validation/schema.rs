//! Validators for the schemas of `openapi.json`: requests are validated against the same document that clients read.
//!
//! In addition to the keywords of JSON Schema, `x-allowed` describes for humans what a pattern or a choice of types
//! allows, and `x-secret` omits a value from messages.

use std::sync::LazyLock;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Value, json};
use strum::{IntoStaticStr, VariantArray};

use crate::validation::{Problem, Problems, member, quote};

/// The description of the API, as it is served.
pub const OPENAPI: &str = include_str!("../../../openapi.json");

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(OPENAPI).expect("openapi.json is valid"));

static COMPILED: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    RequestBody::VARIANTS
        .iter()
        .map(|body| Schema::named(body.into()))
        .collect()
});

/// Compiles the schemas of request bodies at start, so that the first request need not wait for it.
pub fn compile() {
    LazyLock::force(&COMPILED);
}

/// A request body, by the name of its schema.
#[derive(Debug, Clone, Copy, IntoStaticStr, VariantArray)]
pub enum RequestBody {
    SynchronousRender,
    AsynchronousRender,
    TemplatePreview,
    TemplateComparison,
    TemplateCreation,
    TemplateUpdate,
    TemplateSettingsUpdate,
    TemplateSamplesUpdate,
    TemplatePromotionCreation,
    ConnectionCreation,
    AssetCreation,
    AssetReplacement,
    BatchCreation,
    BatchRowsSource,
    DownloadLinkCreation,
}

impl RequestBody {
    /// Adds the validation errors of `body`.
    pub fn check(self, body: &Value, problems: &mut Problems) {
        COMPILED[self as usize].check(body, problems);
    }
}

/// A compiled schema of the document.
struct Schema(Validator);

impl Schema {
    fn named(name: &str) -> Self {
        let schema = json!({
            "$ref": format!("#/components/schemas/{name}"),
            "components": DOCUMENT["components"],
        });
        Self(jsonschema::draft202012::new(&schema).expect("the schema is valid"))
    }

    fn check(&self, body: &Value, problems: &mut Problems) {
        let mut errors: Vec<_> = self.0.iter_errors(body).collect();
        // If a member violates several rules, its type is the most informative one.
        errors.sort_by_key(|error| !matches!(error.kind(), ValidationErrorKind::Type { .. }));
        for error in &errors {
            add(error, problems);
        }
    }
}

/// Returns whether a schema accepts only strings for the member with a dotted name such as `set_cookie.value`.
pub fn takes_text(schema: &str, name: &str) -> bool {
    let named = |name: &str| &DOCUMENT["components"]["schemas"][name];
    let mut member = named(schema);
    for step in name.split('.') {
        member = &member["properties"][step];
        if let Some(target) = member["$ref"].as_str() {
            member = named(target.rsplit('/').next().unwrap_or_default());
        }
    }
    member["type"] == "string" && member.get("enum").is_none()
}

fn add(error: &ValidationError<'_>, problems: &mut Problems) {
    let mut pointer = error.instance_path().as_str();
    if is_choice_in_list(error) {
        // A list of choices is one value for the client, with one error.
        pointer = pointer.rsplit_once('/').map_or(pointer, |(list, _)| list);
    }
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            problems.add(Problem {
                pointer: member(pointer, name),
                title: "Missing field".into(),
                detail: match choices_of(error, name) {
                    Some(choices) => format!("{name} is required: one of {choices}"),
                    None => format!("{name} is required"),
                },
            });
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = keyword_of(error, "properties").and_then(Value::as_object);
            let known: Vec<_> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let known = match keyword_of(error, "x-allowed").and_then(Value::as_str) {
                Some(names) => names.to_owned(),
                None => known.join(", "),
            };
            for name in unexpected {
                problems.add_with(|| Problem {
                    pointer: member(pointer, name),
                    title: "Unknown field".into(),
                    detail: format!("{} is not allowed here; allowed: {known}", quote(name)),
                });
            }
        }
        kind => problems.add(Problem::invalid(pointer, detail(error, kind))),
    }
}

/// Returns what is allowed, and what was received.
fn detail(error: &ValidationError<'_>, kind: &ValidationErrorKind) -> String {
    let came = shown(error);
    let allowed = keyword_of(error, "x-allowed").and_then(Value::as_str);
    match (kind, allowed) {
        (ValidationErrorKind::MinLength { .. } | ValidationErrorKind::MinItems { .. }, _) => "Must not be empty".into(),
        // The description of allowed values would not mention the length or number.
        (ValidationErrorKind::MaxProperties { limit }, _) => {
            let came = error.instance().as_object().map_or(0, serde_json::Map::len);
            format!("Must have at most {limit} members; has {came}")
        }
        (ValidationErrorKind::MaxLength { limit }, _) => {
            let came = error.instance().as_str().map_or(0, |text| text.chars().count());
            format!("Must have at most {limit} characters; has {came}")
        }
        (_, Some(allowed)) => format!("Must be {allowed}; got {came}"),
        (ValidationErrorKind::Type { .. }, None) => {
            let types = match keyword_of(error, "type") {
                Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).map(with_article).collect(),
                Some(Value::String(one)) => vec![with_article(one)],
                _ => Vec::new(),
            };
            format!("Must be {}; got {}", types.join(" or "), type_of(error.instance()))
        }
        (ValidationErrorKind::Enum { options }, None) => {
            format!("Must be one of {}; got {came}", listed(options))
        }
        (ValidationErrorKind::Minimum { limit }, None) => format!("Must be at least {limit}; got {came}"),
        (ValidationErrorKind::Maximum { limit }, None) => format!("Must be at most {limit}; got {came}"),
        (ValidationErrorKind::MaxItems { limit }, None) => {
            let came = error.instance().as_array().map_or(0, Vec::len);
            format!("Must have at most {limit} items; has {came}")
        }
        _ => format!("Must be valid: {}", error.masked()),
    }
}

/// Returns the allowed values of a missing member, if they are listed.
fn choices_of(error: &ValidationError<'_>, name: &str) -> Option<String> {
    let mut schema = keyword_of(error, "properties")?.get(name)?;
    if let Some(target) = schema["$ref"].as_str() {
        schema = DOCUMENT.pointer(target.strip_prefix('#')?)?;
    }
    schema.get("enum").map(listed)
}

fn listed(choices: &Value) -> String {
    let choices = choices.as_array().into_iter().flatten();
    choices.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns a keyword next to the one that failed.
fn keyword_of<'a>(error: &ValidationError<'_>, keyword: &str) -> Option<&'a Value> {
    let (schema, _) = error.schema_path().as_str().rsplit_once('/')?;
    DOCUMENT.pointer(schema)?.get(keyword)
}

/// Returns whether an error is about an item of a list whose items are choices.
fn is_choice_in_list(error: &ValidationError<'_>) -> bool {
    let schema = error.schema_path().as_str().rsplit_once('/');
    schema.is_some_and(|(schema, _)| schema.ends_with("/items")) && keyword_of(error, "enum").is_some()
}

/// Formats a value for messages.
fn shown(error: &ValidationError<'_>) -> String {
    if keyword_of(error, "x-secret").is_some() {
        return "something else".into();
    }
    match error.instance().as_ref() {
        Value::String(text) => quote(text),
        Value::Number(number) => number.to_string(),
        other => type_of(other).into(),
    }
}

/// Returns the type of a value with its article, for messages.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn with_article(type_name: &str) -> String {
    let article = if type_name.starts_with(['a', 'o', 'i']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {type_name}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api_key::Scope;

    fn references(value: &Value) -> Vec<&str> {
        match value {
            Value::Object(members) => {
                let here = members.get("$ref").and_then(Value::as_str);
                here.into_iter().chain(members.values().flat_map(references)).collect()
            }
            Value::Array(items) => items.iter().flat_map(references).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_compiles() {
        for reference in references(&DOCUMENT) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| DOCUMENT.pointer(pointer));
            assert!(target.is_some(), "{reference}");
        }
        for name in DOCUMENT["components"]["schemas"].as_object().expect("schemas").keys() {
            Schema::named(name);
        }
    }

    /// Returns all JSON bodies of the document with their path, schema and examples.
    fn bodies(place: &str, value: &'static Value) -> Vec<(String, &'static Value, &'static Value)> {
        let Value::Object(members) = value else {
            return Vec::new();
        };
        let body = members.get("application/json");
        let here = body.map(|body| (place.to_owned(), &body["schema"], &body["examples"]));
        let below = members
            .iter()
            .flat_map(|(name, value)| bodies(&format!("{place}/{name}"), value));
        here.into_iter().chain(below).collect()
    }

    #[test]
    fn every_body_has_examples_and_they_are_sound() {
        let bodies = [
            bodies("/paths", &DOCUMENT["paths"]),
            bodies("/responses", &DOCUMENT["components"]["responses"]),
        ]
        .concat();
        for (place, schema, examples) in bodies {
            let examples = examples
                .as_object()
                .unwrap_or_else(|| panic!("{place} has no examples"));
            let schema = json!({"allOf": [schema], "components": DOCUMENT["components"]});
            let schema = jsonschema::draft202012::options()
                .should_validate_formats(true)
                .build(&schema)
                .expect("a sound schema");
            for (name, example) in examples {
                let problems: Vec<_> = schema
                    .iter_errors(&example["value"])
                    .map(|problem| problem.to_string())
                    .collect();
                assert!(problems.is_empty(), "{place}, {name}: {problems:?}");
            }
        }
    }

    #[test]
    fn every_operation_says_what_it_is_for_and_what_a_key_needs() {
        let tags: BTreeSet<_> = DOCUMENT["tags"]
            .as_array()
            .expect("tags")
            .iter()
            .map(|tag| tag["name"].as_str())
            .collect();
        let mut ids = BTreeSet::new();
        for (path, item) in DOCUMENT["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                if method == "parameters" {
                    continue;
                }
                let says = |name: &str| operation[name].as_str().is_some_and(|text| !text.is_empty());
                assert!(says("summary") && says("description"), "{method} {path}");
                assert!(
                    ids.insert(operation["operationId"].as_str()),
                    "{method} {path}: a name of its own"
                );
                assert!(
                    tags.contains(&operation["tags"][0].as_str()),
                    "{method} {path}: a tag that is known"
                );
                let needs = operation.get("security").unwrap_or(&DOCUMENT["security"])[0]["apiKey"].as_array();
                let scopes = needs.unwrap_or_else(|| panic!("{method} {path} needs no key"));
                let known = |scope: &Value| scope.as_str().is_some_and(|scope| scope.parse::<Scope>().is_ok());
                assert!(scopes.iter().all(known), "{method} {path}: {scopes:?}");
            }
        }
    }

    #[test]
    fn defaults_are_allowed() {
        for (name, schema) in DOCUMENT["components"]["schemas"].as_object().expect("schemas") {
            if let Some(default) = schema.get("default") {
                let mut problems = Problems::default();
                Schema::named(name).check(default, &mut problems);
                assert!(problems.is_empty(), "{name}: {problems:?}");
            }
        }
    }

    #[test]
    fn a_missing_choice_is_named_with_its_values() {
        let body = json!({"parts": ["<p>"]});
        let mut problems = Problems::default();
        RequestBody::SynchronousRender.check(&body, &mut problems);
        let details: Vec<_> = problems
            .sorted(&body)
            .into_iter()
            .map(|problem| problem.detail)
            .collect();
        assert_eq!(details, [r#"output_encoding is required: one of "binary", "base64""#]);
    }

    #[test]
    fn text_members_are_known_by_their_dotted_names() {
        for text in [
            "pages",
            "header_template",
            "set_cookie.value",
            "evaluate_js.expression",
            "wait_for.selector",
        ] {
            assert!(takes_text("SynchronousRender", text), "{text}");
        }
        for other in [
            "scale",
            "size",
            "margin",
            "margin.top",
            "orientation",
            "bogus",
            "bogus.x",
            "",
        ] {
            assert!(!takes_text("SynchronousRender", other), "{other}");
        }
    }
}
