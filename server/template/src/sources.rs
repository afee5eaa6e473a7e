//! A template, with the partials that it uses and the catalogues of its texts.

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
    /// Catalogues in the order in which the function `t` searches them: the chosen language, then those that replace it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub catalogues: Vec<Catalogue<'a>>,
}

/// The texts of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue<'a> {
    /// BCP 47 tag, such as `pt-BR`.
    pub language: Cow<'a, str>,
    /// Texts by their keys, such as `invoice.total`.
    pub texts: BTreeMap<Cow<'a, str>, Text<'a>>,
}

/// A text of a catalogue. In it, `{name}` stands for the argument `name`, and doubled braces for single ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Text<'a> {
    /// The same text for all numbers.
    Plain(Cow<'a, str>),
    /// Texts by plural category (`zero`, `one`, `two`, `few`, `many` and `other`, which counts for those that are missing)
    /// or exact number (`=0`). The argument `count` selects one.
    Plural(BTreeMap<Cow<'a, str>, Cow<'a, str>>),
}

impl Catalogue<'_> {
    /// Returns a copy without borrowed texts. Texts that are owned already are moved.
    pub(crate) fn into_owned(self) -> Catalogue<'static> {
        let texts = self.texts.into_iter();
        Catalogue {
            language: owned(self.language),
            texts: texts.map(|(key, text)| (owned(key), text.into_owned())).collect(),
        }
    }
}

impl Text<'_> {
    fn into_owned(self) -> Text<'static> {
        match self {
            Self::Plain(text) => Text::Plain(owned(text)),
            Self::Plural(forms) => {
                let forms = forms.into_iter();
                Text::Plural(forms.map(|(form, text)| (owned(form), owned(text))).collect())
            }
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// A template that uses no partials and no catalogues.
impl<'a> From<&'a str> for Sources<'a> {
    fn from(template: &'a str) -> Self {
        Self {
            template: template.into(),
            partials: BTreeMap::new(),
            catalogues: Vec::new(),
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
            catalogues: Vec::new(),
        }
    }

    /// Sets the catalogues, in the order in which they are searched.
    #[must_use]
    pub fn with_catalogues(mut self, catalogues: impl IntoIterator<Item = Catalogue<'a>>) -> Self {
        self.catalogues = catalogues.into_iter().collect();
        self
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
