//! The catalogues in which a template's texts are looked up.

use std::collections::{BTreeMap, btree_map::Entry};

use platen_domain::template::translations::{Text, Translations, canonical_tag};
use platen_template::sources::{self, Catalogue};

/// Returns catalogues in the order of look-up: those of the requested language and of the template's own one, which is the
/// first that its author wrote. `all` are the translations of the template, followed by those of its partials: texts of the
/// template take precedence, and its languages decide about the order. A requested variant of a language, such as `de-CH`, has
/// an empty catalogue before that of the language, so that it is the language of the document and of filters.
pub(in crate::service) fn catalogues<'a>(
    all: impl IntoIterator<Item = &'a Translations>,
    requested: Option<&str>,
) -> Vec<Catalogue<'a>> {
    let mut catalogues: Vec<Catalogue<'a>> = Vec::new();
    let requested = requested.and_then(canonical_tag);
    let mut wanted = requested.clone();
    for translations in all {
        let own = translations.written().keys().next().map(String::as_str);
        for (language, texts) in translations.chain(wanted.as_deref(), own) {
            let known = catalogues.iter().position(|known| known.language == language);
            let position = known.unwrap_or_else(|| {
                catalogues.push(Catalogue {
                    language: language.into(),
                    texts: BTreeMap::new(),
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
        // Partials follow the template, if that lacks the requested language.
        wanted = match (&requested, catalogues.first()) {
            (Some(requested), Some(chosen)) if is_variant(requested, &chosen.language) => Some(requested.clone()),
            (_, chosen) => chosen.map(|chosen| chosen.language.to_string()),
        };
    }
    if let (Some(requested), Some(chosen)) = (requested, catalogues.first())
        && is_variant(&requested, &chosen.language)
        && requested != chosen.language
    {
        let variant = Catalogue {
            language: requested.into(),
            texts: BTreeMap::new(),
        };
        catalogues.insert(0, variant);
    }
    catalogues
}

/// Returns whether a tag is that of a language or of one of its variants.
fn is_variant(tag: &str, language: &str) -> bool {
    let rest = tag.strip_prefix(language);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
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
        let partial = translations(json!({"en": {"a": "x", "b": "b"}, "de": {"c": "C"}, "de-AT": {"b": "B"}}));
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
        assert_eq!(found(None), ["de: a=A c=C", "en: a=x b=b"]);
        assert_eq!(found(Some("en")), ["en: a=a b=b", "de: a=A"]);
        assert_eq!(
            found(Some("de-at")),
            ["de-AT: ", "de: a=A c=C", "de-AT: b=B", "en: a=x b=b"]
        );
        assert_eq!(found(Some("de-CH")), ["de-CH: ", "de: a=A c=C", "en: a=x b=b"]);
        assert_eq!(found(Some("dev")), ["de: a=A c=C", "en: a=x b=b"]);
    }
}
