//! What a stored template is set to, beside its content.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::validation::{
    Fault, Faults,
    json::{self, Body, Layout},
    schema::Schema,
};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::named("TemplateSettingsUpdate"));

/// Does at start what the first request would else wait for.
pub(super) fn compile_schema() {
    LazyLock::force(&SCHEMA);
}

/// What a template is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateSettings {
    /// Whether the use of something undefined is an error instead of a warning.
    pub strict: bool,
}

/// Settings as a body gives them; what it leaves out stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct SettingsChanges {
    /// Whether the use of something undefined is an error instead of a warning.
    pub strict: Option<bool>,
}

impl SettingsChanges {
    /// Reads a body. Fails with every fault, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let Some(Body { value: mut body, .. }) = json::parse(body, &Layout::PLAIN, &mut faults) else {
            return Err(faults.sorted(&Value::Null));
        };
        SCHEMA.check(&body, &mut faults);
        if !faults.is_empty() {
            return Err(faults.sorted(&body));
        }
        serde_json::from_value(body["settings"].take()).map_err(|error| vec![Fault::invalid("", error.to_string())])
    }
}
