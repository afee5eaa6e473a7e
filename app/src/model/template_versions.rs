//! Versions of a template.

use platen_domain::template::{EditedTemplate, TemplateVersion, VersionSummary};

/// Versions of a template, and a comparison with the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    pub edited: EditedTemplate,
    /// The latest versions, the newest first.
    pub listed: Vec<VersionSummary>,
    /// The version to compare with.
    pub compared: Option<TemplateVersion>,
}
