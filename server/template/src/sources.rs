//! A template, with the partials that it uses.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

/// A template, and the partials that `include`, `extends` and `import` find, by handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources<'a> {
    /// Text of the template.
    pub template: Cow<'a, str>,
    /// Texts of the partials.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub partials: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

/// A template that uses no partials.
impl<'a> From<&'a str> for Sources<'a> {
    fn from(template: &'a str) -> Self {
        Self {
            template: template.into(),
            partials: BTreeMap::new(),
        }
    }
}

impl<'a> Sources<'a> {
    /// `partials` are handles with texts.
    pub fn new(
        template: impl Into<Cow<'a, str>>,
        partials: impl IntoIterator<Item = (impl Into<Cow<'a, str>>, impl Into<Cow<'a, str>>)>,
    ) -> Self {
        let partials = partials.into_iter();
        Self {
            template: template.into(),
            partials: partials.map(|(handle, text)| (handle.into(), text.into())).collect(),
        }
    }

    /// Returns all texts, each with the handle of its partial: first the template, which has none.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let partials = self.partials.iter();
        let partials = partials.map(|(handle, text)| (Some(handle.as_ref()), text.as_ref()));
        std::iter::once((None, self.template.as_ref())).chain(partials)
    }

    /// Returns the text of a partial or, without a handle, of the template. Returns an empty text for unknown partials.
    pub(crate) fn text(&self, partial: Option<&str>) -> &str {
        match partial {
            Some(handle) => self.partials.get(handle).map(AsRef::as_ref).unwrap_or_default(),
            None => &self.template,
        }
    }
}
