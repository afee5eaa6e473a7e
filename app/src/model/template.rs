//! Stored templates, as their account sees them.

use serde::{Deserialize, Serialize};

/// The form that saves a version of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateForm {
    /// Id of the template.
    pub id: String,
    /// The newest version that the author has seen. `None` skips the check for newer versions.
    pub seen: Option<i32>,
    pub name: String,
    /// HTML in the template syntax.
    pub content: String,
    /// Sample data, JSON.
    pub data: String,
    /// Whether the version is published.
    pub publish: bool,
}

/// The starter content of a new template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beginning {
    /// Line items, totals and a payment code.
    #[default]
    Invoice,
    /// A landscape page.
    Certificate,
    /// A cover, charts, tables and running heads.
    Report,
    /// Almost empty.
    Blank,
}

impl Beginning {
    /// All starters in the order of the form: form value, name and contents.
    pub const OFFERED: [(&'static str, &'static str, &'static str); 4] = [
        ("invoice", "Invoice", "Lines, sums, VAT and a code to pay by"),
        ("certificate", "Certificate", "One sheet across, with signatures"),
        ("report", "Report", "Cover, charts, tables, running heads"),
        ("blank", "Blank page", "A heading and one placeholder"),
    ];
}

/// Returns the path of a template's editor.
pub fn editor_path(id: &str) -> String {
    format!("/dashboard/templates/{id}")
}

/// Returns the path of a template's versions.
pub fn versions_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/versions")
}
