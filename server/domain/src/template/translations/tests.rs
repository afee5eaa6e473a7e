use minijinja::value::Serde;
use platen_template::{language, sources};
use serde_json::json;

use super::*;

/// Parses what is valid.
fn valid(written: Value) -> Translations {
    serde_json::from_value(written).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the errors as `pointer: detail`.
fn problems(written: &Value) -> Vec<String> {
    let mut problems = Problems::default();
    let parsed = Translations::parse(written, "/template/translations", &mut problems);
    assert_eq!(parsed.is_some(), problems.is_empty());
    let body = json!({ "template": { "translations": written } });
    let listed = problems.sorted(&body).into_iter();
    listed
        .map(|problem| format!("{}: {}", problem.pointer, problem.detail))
        .collect()
}

#[track_caller]
fn assert_problem(texts: &Value, pointer: &str, detail: &str) {
    let found = problems(&json!({ "de": texts }));
    let [found] = found.as_slice() else {
        panic!("{texts}: {found:?}");
    };
    let (at, what) = found.split_once(": ").expect("pointer and detail");
    assert_eq!(at, format!("/template/translations/de{pointer}"), "{found}");
    assert!(what.contains(detail), "{found}");
}

fn languages(all: &[&Translations], requested: Option<&str>) -> Vec<String> {
    languages_in_order(all, requested)
}

#[test]
fn groups_are_joined_and_plural_forms_are_texts() {
    let written = json!({
        "DE-at": {
            "invoice": {"total": "Summe", "pages": {"=0": "leer", "one": "{count} Seite", "other": "{count} Seiten"}, "a": {}},
            "invoice.title": "Rechnung {{{größe_1}}}",
            "one": "top", "title": "",
            "two": {"other": {"x": "no form"}}
        },
        "en": {}
    });
    let translations = valid(written.clone());
    assert_eq!(serde_json::to_value(&translations).expect("JSON"), written);
    assert_eq!(translations.catalogues().keys().collect::<Vec<_>>(), ["de-AT", "en"]);
    let texts: Vec<_> = translations.catalogues()["de-AT"].iter().collect();
    let [pages, title, total, one, empty, other] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    let Text::Plural(forms) = pages.1 else {
        panic!("{pages:?}");
    };
    assert_eq!(
        (pages.0.as_str(), forms["=0"].as_str(), forms.len()),
        ("invoice.pages", "leer", 3)
    );
    let plain = |key: &str, text: &str| (key.to_owned(), Text::Plain(text.to_owned()));
    let expected = [
        plain("invoice.title", "Rechnung {{{größe_1}}}"),
        plain("invoice.total", "Summe"),
        plain("one", "top"),
        plain("title", ""),
        plain("two.other.x", "no form"),
    ];
    for ((key, text), (expected_key, expected_text)) in [title, total, one, empty, other].into_iter().zip(&expected) {
        assert_eq!((*key, *text), (expected_key, expected_text));
    }
    assert!(Translations::default().is_empty() && valid(json!({})).is_empty() && !translations.is_empty());
}

#[test]
fn what_is_neither_text_nor_plural_forms_nor_group_is_named_with_what_came() {
    for (value, came) in [
        (json!(7), "a number"),
        (json!(["a"]), "an array"),
        (json!(null), "null"),
        (json!(true), "a boolean"),
    ] {
        let detail = format!("Must be a text, plural forms or a group of texts; got {came}");
        assert_problem(&json!({"a": {"b/c": value}}), "/a/b~1c", &detail);
        assert_problem(
            &value,
            "",
            &format!("Must be an object of texts by their keys; got {came}"),
        );
        let written = problems(&value);
        assert_eq!(written.len(), 1);
        assert!(
            written[0].starts_with("/template/translations: Must be an object of language tags"),
            "{written:?}"
        );
    }
    let without_other = json!({"pages": {"one": "a", "=0": "b"}});
    assert_problem(&without_other, "/pages", "Must have the text other, which counts");
    assert_problem(&without_other, "/pages", "got only \"one\", \"=0\"");
    assert_problem(
        &json!({"pages": {"one": "a", "other": {}}}),
        "/pages",
        "Must have the text other",
    );
    assert_problem(
        &json!({"pages": {"other": "a", "one": 1}}),
        "/pages/one",
        "Must be a text, as other plural forms are; got a number",
    );
    let mixed = "got the plural form \"other\" and the key \"paid\"";
    assert_problem(&json!({"status": {"other": "a", "paid": "b"}}), "/status", mixed);
    for form in ["=", "=x", "=01", "=-1", "=1234567890"] {
        assert_problem(
            &json!({"n": {"other": "a", form: "b"}}),
            &format!("/n/{form}"),
            "an exact number of at most 9 digits",
        );
    }
}

#[test]
fn braces_enclose_names_or_are_doubled() {
    for text in [
        "{", "}", "a {b", "a} b", "{}", "{a b}", "{ a }", "{1a}", "{a-b}", "{{{", "{a{{b}",
    ] {
        assert_problem(
            &json!({ "x": text }),
            "/x",
            "Must have braces only around the name of an argument, as in {name}",
        );
        assert_problem(&json!({"x": {"other": text}}), "/x/other", "Must have braces only");
    }
    assert_problem(&json!({"x": "p { color: red }"}), "/x", "got \"{ color: red }\"");
    for text in ["", "{a}{_b1}", "{{}}", "{{{a}}}", "{größe}", "p {{ color: red }}"] {
        assert_eq!(problems(&json!({"de": {"x": text}})), [""; 0], "{text}");
    }
}

#[test]
fn bounds() {
    assert_eq!(problems(&json!({"de": {"x": "ä".repeat(10_000)}})), [""; 0]);
    assert_problem(
        &json!({"x": "ä".repeat(10_001)}),
        "/x",
        "Must have at most 10000 characters; has 10001",
    );
    let (longest, too_long) = ("ä".repeat(200), "ä".repeat(201));
    assert_eq!(problems(&json!({"de": {&longest: "x"}})), [""; 0]);
    assert_problem(
        &json!({&too_long: "x"}),
        &format!("/{too_long}"),
        "a key of 1 to 200 characters, none",
    );
    assert_problem(&json!({"a": {&longest: "x"}}), &format!("/a/{longest}"), "with 202");
    assert_problem(&json!({"a": {"": "x"}}), "/a/", "a key of 1 to 200 characters");
    assert_problem(
        &json!({"a\nb": "x"}),
        "/a\nb",
        "none of them control characters; got \"a\\nb\" with 3",
    );
    assert_problem(&json!({"a": "x\0"}), "/a", "Must not contain the character U+0000");
    let nested = |levels: usize| (0..levels).fold(json!({"x": "text"}), |inner, _| json!({ "g": inner }));
    assert_eq!(problems(&json!({ "de": nested(5) })), [""; 0]);
    assert_problem(
        &nested(6),
        "/g/g/g/g/g/g",
        "Must be on one of 5 levels of groups; got level 6",
    );
    let many = |count: usize| Value::Object((0..count).map(|key| (key.to_string(), json!("x"))).collect());
    assert_eq!(problems(&json!({ "de": many(2000) })), [""; 0]);
    assert_problem(&many(2001), "", "Must have at most 2000 texts");
    let tag = |number: usize| format!("de-{number:03}");
    let tags = |count: usize| Value::Object((0..count).map(|number| (tag(number), json!({}))).collect());
    assert_eq!(problems(&tags(50)), [""; 0]);
    assert_eq!(
        problems(&tags(51)),
        ["/template/translations: Must have at most 50 languages; has 51"]
    );
    // {"de":{"0":"…",…}} adds eight bytes to the first texts, and seven or more to each further one.
    let of_size = |bytes: usize| {
        let full = json!({"de": many(0)});
        let mut texts = Map::new();
        let mut left = bytes - full.to_string().len();
        while left > 0 {
            let key = format!("{:02}", texts.len());
            let around = if texts.is_empty() { 7 } else { 8 };
            let length = (left - around).min(9000);
            texts.insert(key, json!("x".repeat(length)));
            left -= length + around;
        }
        json!({ "de": texts })
    };
    assert_eq!(of_size(512 << 10).to_string().len(), 512 << 10);
    assert_eq!(problems(&of_size(512 << 10)), [""; 0]);
    assert_eq!(
        problems(&of_size((512 << 10) + 1)),
        ["/template/translations: Must have at most 524288 bytes as JSON; has 524289"]
    );
}

#[test]
fn keys_and_languages_differ() {
    assert_problem(
        &json!({"a": {"b": "x"}, "a.b": "y"}),
        "/a.b",
        "a key that differs from the others; got \"a.b\" again",
    );
    let found = problems(&json!({"de-at": {}, "DE-AT": {}}));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("/template/translations/DE-AT: Must be named by a language tag that differs"),
        "{found:?}"
    );
    for tag in [
        "",
        "de_AT",
        "d3",
        "de-",
        "abcdefghi",
        "deutsch österreich",
        &format!("de{}", "-abc".repeat(9)),
    ] {
        let found = problems(&json!({ tag: {} }));
        assert_eq!(found.len(), 1, "{tag}");
        assert!(
            found[0].contains("a language tag such as en or pt-BR (BCP 47); got "),
            "{found:?}"
        );
    }
}

#[test]
fn tags_have_a_canonical_case() {
    for (tag, canonical) in [
        ("PT-br", "pt-BR"),
        ("ZH-HANT-hk", "zh-Hant-HK"),
        ("de-at-1996", "de-AT-1996"),
        ("en-X-US-home", "en-x-us-home"),
        ("x", "x"),
    ] {
        assert_eq!(canonical_tag(tag).as_deref(), Some(canonical));
    }
}

#[test]
fn texts_are_looked_up_in_the_requested_then_in_the_first_language() {
    let template = valid(json!({"en": {}, "de-AT": {}, "DE-at-1996": {}, "zh-Hant": {}}));
    for (requested, expected) in [
        (None, &["en"][..]),
        (Some("fr"), &["en"]),
        (Some("EN-gb"), &["en"]),
        (Some("de"), &["en"]),
        (Some("de-at"), &["de-AT", "en"]),
        (Some("de-AT-1996-x-a"), &["de-AT-1996", "de-AT", "en"]),
        (Some("zh-Hant-u-nu-latn"), &["zh-Hant", "en"]),
        (Some("not a tag"), &["en"]),
    ] {
        assert_eq!(languages(&[&template], requested), expected, "{requested:?}");
    }
    // Partials have languages that the template lacks, and follow it otherwise.
    let partial = valid(json!({"fr": {}, "de": {}}));
    let none = Translations::default();
    for (requested, expected) in [
        (None, &["en", "fr"][..]),
        (Some("de-AT"), &["de-AT", "de", "en", "fr"]),
        (Some("de"), &["de", "en", "fr"]),
    ] {
        assert_eq!(languages(&[&template, &partial], requested), expected, "{requested:?}");
    }
    assert_eq!(languages(&[&none, &partial], Some("de")), ["de", "fr"]);
    assert_eq!(languages(&[&none], Some("de")), [""; 0]);
}

#[test]
fn the_order_of_languages_makes_a_difference() {
    let one = json!({"de": {"a": "x", "b": "y"}, "en": {}});
    let other = json!({"en": {}, "de": {"a": "x", "b": "y"}});
    assert_ne!(valid(one.clone()), valid(other));
    assert_eq!(valid(one.clone()), valid(one));
}

#[test]
fn stored_translations_that_are_invalid_are_an_error() {
    let error = serde_json::from_value::<Translations>(json!({"de": {"x": 1}})).expect_err("invalid");
    assert!(error.to_string().starts_with("/de/x: Must be a text"), "{error}");
}

#[test]
fn templates_print_valid_texts() {
    let translations = valid(json!({
        "de": {"a": {"b": "{{{name}}}"}, "n": {"=0": "keine", "one": "{count} Seite", "other": "{count} Seiten"}},
        "en": {"c": "see"},
    }));
    let catalogues = languages_in_order(&[&translations], Some("de-AT")).into_iter();
    let catalogues = catalogues.chain(["en".to_owned()]).map(|language| {
        let texts = translations.catalogues()[&language].iter().map(|(key, text)| {
            let text = match text {
                Text::Plain(text) => sources::Text::Plain(text.into()),
                Text::Plural(forms) => {
                    sources::Text::Plural(forms.iter().map(|(form, text)| (form.into(), text.into())).collect())
                }
            };
            (key.into(), text)
        });
        sources::Catalogue {
            language: language.into(),
            texts: texts.collect(),
        }
    });
    let template = "{{ t('a.b', name='x') }} {{ t('n', count=0) }} {{ t('n', count=2) }} {{ t('c') }}";
    let sources = sources::Sources::from(template).with_catalogues(catalogues);
    let context = minijinja::Value::from(Serde(json!({})));
    let rendered = language::render(sources, context, language::Undefined::Warn).expect("it is filled");
    assert_eq!(
        (rendered.text.as_str(), rendered.warnings.len()),
        ("{x} keine 2 Seiten see", 1)
    );
}
