//! The API description, as used by tests.

use std::{collections::HashMap, sync::LazyLock, sync::Mutex};

use jsonschema::Validator;
use platen_domain::validation::schema::OPENAPI;
use reqwest::Method;
use serde_json::{Value, json};

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(OPENAPI).expect("openapi.json is JSON"));

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// An operation of the API.
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// The path, with parameters in braces.
    pub(crate) path: &'static str,
    /// The OpenAPI operation object.
    pub(crate) description: &'static Value,
}

/// Returns the whole document.
pub(crate) fn document() -> &'static Value {
    &DOCUMENT
}

/// Returns all described operations.
pub(crate) fn operations() -> Vec<Operation> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        METHODS.into_iter().filter_map(move |method| {
            let description = item.get(method.as_str().to_lowercase())?;
            Some(Operation {
                method,
                path,
                description,
            })
        })
    });
    operations.collect()
}

impl Operation {
    /// Returns whether a request path matches this operation's path.
    pub(crate) fn has_path(&self, path: &str) -> bool {
        let (described, asked) = (self.path.split('/'), path.split('/'));
        described.clone().count() == asked.clone().count()
            && described
                .zip(asked)
                .all(|(described, asked)| described == asked || (described.starts_with('{') && !asked.is_empty()))
    }

    /// Returns the scope that the operation requires of a key, if any.
    pub(crate) fn scope(&self) -> Option<&'static str> {
        let security = self.description.get("security").unwrap_or(&DOCUMENT["security"]);
        let scopes = security[0]["apiKey"].as_array().expect("every operation needs a key");
        scopes.first().map(|scope| scope.as_str().expect("a word"))
    }

    /// Returns the first example of the JSON body, or `None` if the operation takes no body.
    pub(crate) fn example_body(&self) -> Option<&'static Value> {
        let body = resolve(self.description.get("requestBody")?);
        let examples = body["content"]["application/json"]["examples"].as_object();
        let first = examples.and_then(|examples| examples.values().next());
        Some(&resolve(first.unwrap_or_else(|| panic!("{} has no example", self.path)))["value"])
    }
}

/// Resolves a reference; returns other objects unchanged.
pub(crate) fn resolve(object: &'static Value) -> &'static Value {
    match object["$ref"].as_str() {
        Some(reference) => resolve(
            DOCUMENT
                .pointer(reference.trim_start_matches('#'))
                .unwrap_or_else(|| panic!("{reference} leads nowhere")),
        ),
        None => object,
    }
}

/// Returns the violations of a schema of the document, including formats.
pub(crate) fn problems(schema: &'static Value, value: &Value) -> Vec<String> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);
    let mut validators = VALIDATORS.lock().expect("no panic");
    let validator = validators.entry(schema.to_string()).or_insert_with(|| {
        let schema = json!({"allOf": [schema], "components": DOCUMENT["components"]});
        jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .expect("a sound schema")
    });
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}
