//! Settings of a stored template.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::validation::{
    Problem, Problems,
    json::{self, Body, Layout},
    schema::RequestBody,
};

/// The settings of a template, as the API serializes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TemplateSettings {
    /// Whether undefined values, and assets that do not exist, are errors instead of warnings.
    pub strict: bool,
}

/// Changes of settings; omitted settings stay unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct SettingsChanges {
    /// Whether undefined values, and assets that do not exist, are errors instead of warnings.
    pub strict: Option<bool>,
}

impl SettingsChanges {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: mut body, .. }) = json::parse(body, &Layout::PLAIN, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::TemplateSettingsUpdate.check(&body, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        serde_json::from_value(body["settings"].take()).map_err(|error| vec![Problem::invalid("", error.to_string())])
    }
}
