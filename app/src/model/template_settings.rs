//! Settings of a template.

use platen_domain::template::{identity::TemplateIdentity, used_by::PartialUsers};

/// Everything that the page of a template's settings shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateSettings {
    /// Name of the published version.
    pub name: String,
    pub identity: TemplateIdentity,
    /// Number of the published version.
    pub published: i32,
    /// The templates that use it as a partial.
    pub users: PartialUsers,
}
