//! The catalogues in which a template's texts are looked up.

use std::collections::btree_map::Entry;

use platen_domain::template::translations::{Text, Translations};
use platen_template::sources::{self, Catalogue};

/// Returns catalogues in the order of look-up: those of the requested language and of the template's own one, which is the
/// first that its author wrote. `all` are the translations of the template, followed by those of its partials: texts of the
/// template take precedence, and its languages decide about the order.
pub(in crate::service) fn catalogues<'a>(
    all: impl IntoIterator<Item = &'a Translations>,
    requested: Option<&str>,
) -> Vec<Catalogue<'a>> {
    let mut catalogues: Vec<Catalogue<'a>> = Vec::new();
    for translations in all {
        let own = translations.written().keys().next();
        for (language, texts) in translations.chain(requested, own.map(String::as_str)) {
            let known = catalogues.iter().position(|known| known.language == language);
            let position = known.unwrap_or_else(|| {
                catalogues.push(Catalogue {
                    language: language.into(),
                    texts: Default::default(),
                });
                catalogues.len() - 1
            });
            let Some(catalogue) = catalogues.get_mut(position) else {
                continue;
            };
            for (key, text) in texts {
                if let Entry::Vacant(free) = catalogue.texts.entry(key.as_str().into()) {
                    free.insert(borrowed(text));
                }
            }
        }
    }
    catalogues
}

fn borrowed(text: &Text) -> sources::Text<'_> {
    match text {
        Text::Plain(text) => sources::Text::Plain(text.as_str().into()),
        Text::Plural(forms) => {
            let forms = forms.iter();
            sources::Text::Plural(
                forms
                    .map(|(form, text)| (form.as_str().into(), text.as_str().into()))
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn translations(written: serde_json::Value) -> Translations {
        Translations::try_from(written).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_template_precedes_its_partials() {
        let template = translations(json!({"de": {"a": "A"}, "en": {"a": "a"}}));
        let partial = translations(json!({"en": {"a": "x", "b": "b"}, "de-AT": {"b": "B"}}));
        let found = |requested| {
            let catalogues = catalogues([&template, &partial], requested);
            let shown = catalogues.iter().map(|catalogue| {
                let texts = catalogue.texts.iter().map(|(key, text)| match text {
                    sources::Text::Plain(text) => format!("{key}={text}"),
                    sources::Text::Plural(_) => String::new(),
                });
                format!("{}: {}", catalogue.language, texts.collect::<Vec<_>>().join(" "))
            });
            shown.collect::<Vec<_>>()
        };
        // Without a request, each begins with its first language.
        assert_eq!(found(None), ["de: a=A", "en: a=x b=b"]);
        assert_eq!(found(Some("en")), ["en: a=a b=b", "de: a=A"]);
        assert_eq!(found(Some("de-AT")), ["de: a=A", "de-AT: b=B", "en: a=x b=b"]);
    }
}
