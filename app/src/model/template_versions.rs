//! Versions of a template.

use platen_domain::{
    diff::Diff,
    template::{EditedTemplate, VersionSummary},
};

/// Versions of a template, and a comparison with the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    pub edited: EditedTemplate,
    /// The latest versions, the newest first.
    pub listed: Vec<VersionSummary>,
    pub compared: Option<Comparison>,
}

/// A version, compared with the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub older: VersionSummary,
    pub html: Diff,
    pub data: Diff,
}
