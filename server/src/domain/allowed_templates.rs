//! Which templates a key may use.

use std::{collections::BTreeSet, fmt};

use crate::domain::ids::TemplateId;

/// A list of templates. Empty, it forbids nothing; else the key renders these alone, and sees and changes no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedTemplates(BTreeSet<TemplateId>);

impl AllowedTemplates {
    /// Whether every template may be used, and content of any other kind.
    pub fn everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a template may be used.
    pub fn contains(&self, template: TemplateId) -> bool {
        self.everything() || self.0.contains(&template)
    }

    /// In a fixed order; none when everything is allowed.
    pub fn iter(&self) -> impl Iterator<Item = TemplateId> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<TemplateId> for AllowedTemplates {
    fn from_iter<T: IntoIterator<Item = TemplateId>>(templates: T) -> Self {
        Self(templates.into_iter().collect())
    }
}

/// A key with a list asks for something that is not in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotAllowed {
    /// What it asks for.
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
    /// Something that is no template of the list, in words that follow "not for".
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}
