//! Stored templates, as people see them.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Which templates somebody looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateFilter {
    /// Part of the name, or the beginning of the id; empty: all.
    pub search: String,
    /// Only those with a draft, or only those without.
    pub has_draft: Option<bool>,
    /// Those after this one.
    pub cursor: Option<String>,
}

/// A template in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateGlance {
    /// Identifier.
    pub id: String,
    /// As published.
    pub name: String,
    /// What tells it from others of its name.
    pub hint: Option<String>,
    /// The version that renders use.
    pub published: i32,
    /// The newest one.
    pub newest: i32,
    /// When that was saved.
    pub changed_at: OffsetDateTime,
    /// By whom, if they are still there.
    pub changed_by: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateList {
    /// Newest first.
    pub templates: Vec<TemplateGlance>,
    /// Where the next part begins.
    pub next: Option<String>,
}

/// A template as its editor opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedTemplate {
    /// Identifier.
    pub id: String,
    /// The version that renders use.
    pub published: i32,
    /// The newest version.
    pub newest: TemplateText,
}

/// What a version of a template says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateText {
    /// From 1.
    pub number: i32,
    /// What the template is called.
    pub name: String,
    /// HTML with places to fill.
    pub content: String,
    /// Sample data, JSON as people write it.
    pub data: String,
}

/// A version in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionGlance {
    /// From 1.
    pub number: i32,
    /// Who saved it, if they are still there.
    pub author: Option<String>,
    /// When.
    pub saved_at: OffsetDateTime,
}

/// The versions of a template, and one of them beside the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// The template.
    pub id: String,
    /// The version that renders use.
    pub published: i32,
    /// The latest of them, newest first.
    pub versions: Vec<VersionGlance>,
    /// The newest one.
    pub newest: TemplateText,
    /// The one that it is compared with.
    pub compared: Option<TemplateText>,
}

/// What somebody saves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateForm {
    /// Which template.
    pub id: String,
    /// The newest version that they know; `None`: whichever it is.
    pub seen: Option<i32>,
    /// What it is to be called.
    pub name: String,
    /// HTML with places to fill.
    pub content: String,
    /// Sample data, JSON.
    pub data: String,
    /// Whether renders are to use it.
    pub publish: bool,
}

/// What was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTemplate {
    /// The version that it is now.
    pub version: i32,
    /// The version that renders use.
    pub published: i32,
}

/// What a new template is like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beginning {
    /// Lines, sums, a code to pay by.
    #[default]
    Invoice,
    /// One sheet across.
    Certificate,
    /// A cover, charts, tables and running heads.
    Report,
    /// Next to nothing.
    Blank,
}

impl Beginning {
    /// All of them, as they are offered: value in forms, name, and what is in it.
    pub const OFFERED: [(&'static str, &'static str, &'static str); 4] = [
        ("invoice", "Invoice", "Lines, sums, VAT and a code to pay by"),
        ("certificate", "Certificate", "One sheet across, with signatures"),
        ("report", "Report", "Cover, charts, tables, running heads"),
        ("blank", "Blank page", "A heading and one placeholder"),
    ];
}

/// Where the editor of a template is.
pub fn editor_path(id: &str) -> String {
    format!("/dashboard/templates/{id}")
}

/// Where its versions are.
pub fn versions_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/versions")
}
