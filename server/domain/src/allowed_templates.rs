//! The templates that a key may use.

use std::{collections::BTreeSet, fmt};

use crate::ids::TemplateId;

/// A list of templates. An empty list means no restriction; otherwise the key renders only these, and neither sees nor
/// changes others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedTemplates(BTreeSet<TemplateId>);

impl AllowedTemplates {
    /// Returns whether there is no restriction: every template may be used, and content of any other kind.
    pub fn everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the template may be used.
    pub fn contains(&self, template: TemplateId) -> bool {
        self.everything() || self.0.contains(&template)
    }

    /// Returns the templates in a fixed order; none if there is no restriction.
    pub fn iter(&self) -> impl Iterator<Item = TemplateId> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<TemplateId> for AllowedTemplates {
    fn from_iter<T: IntoIterator<Item = TemplateId>>(templates: T) -> Self {
        Self(templates.into_iter().collect())
    }
}

/// A key that is restricted to certain templates requests something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotAllowed {
    /// The requested item, as a phrase.
    pub what: String,
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the API key is for certain templates only, not for {}",
            self.what
        )
    }
}

impl NotAllowed {
    /// Creates an error for a requested item, given as a phrase that follows "not for".
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}
