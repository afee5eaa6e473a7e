//! The catalogues in which a template's texts are looked up.

use std::collections::BTreeMap;

use platen_domain::template::translations::{Text, Translations, canonical_tag, languages_in_order};
use platen_template::sources::{self, Catalogue};

/// Returns catalogues in the order of look-up. `all` are the translations of the template, followed by those of its partials in
/// the order of their handles: earlier ones take precedence. A requested variant of a language, such as `de-CH`, has an empty
/// catalogue before that of the language, so that it is the language of the document and of filters.
pub(in crate::service) fn catalogues<'a>(
    all: impl IntoIterator<Item = &'a Translations>,
    requested: Option<&str>,
) -> Vec<Catalogue<'a>> {
    let all: Vec<_> = all
        .into_iter()
        .filter(|translations| !translations.is_empty())
        .collect();
    let languages = languages_in_order(&all, requested);
    let variant = requested.and_then(canonical_tag).filter(|requested| {
        let rest = languages
            .first()
            .and_then(|chosen| requested.strip_prefix(chosen.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    });
    let merged = languages.into_iter().map(|language| {
        let mut texts = BTreeMap::new();
        for (key, text) in all
            .iter()
            .filter_map(|translations| translations.catalogues().get(&language))
            .flatten()
        {
            texts.entry(key.as_str().into()).or_insert_with(|| borrowed(text));
        }
        Catalogue {
            language: language.into(),
            texts,
        }
    });
    let empty = variant.map(|language| Catalogue {
        language: language.into(),
        texts: BTreeMap::new(),
    });
    empty.into_iter().chain(merged).collect()
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
        assert_eq!(found(None), ["de: a=A c=C", "en: a=a b=b"]);
        assert_eq!(found(Some("en")), ["en: a=a b=b", "de: a=A c=C"]);
        assert_eq!(found(Some("de-at")), ["de-AT: b=B", "de: a=A c=C", "en: a=a b=b"]);
        assert_eq!(found(Some("de-CH")), ["de-CH: ", "de: a=A c=C", "en: a=a b=b"]);
        assert_eq!(found(Some("dev")), ["de: a=A c=C", "en: a=a b=b"]);
    }
}
