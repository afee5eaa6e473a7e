//! The function `t`, and the language of catalogues.

use minijinja::{Value, value::Serde};
use serde_json::json;

use super::context;
use crate::{
    diagnostic::{Diagnostic, DiagnosticKind, Place},
    language::{Rendered, Undefined, render, trace},
    sources::{Catalogue, Sources, Text},
};

/// Creates a catalogue from a JSON object of texts and plural forms.
fn catalogue(language: &str, texts: serde_json::Value) -> Catalogue<'static> {
    let texts: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_value(texts).expect("an object of texts");
    let texts = texts.into_iter().map(|(key, text)| {
        let text = match text {
            serde_json::Value::String(text) => Text::Plain(text.into()),
            forms => Text::Plural(serde_json::from_value(forms).expect("plural forms")),
        };
        (key.into(), text)
    });
    Catalogue {
        language: language.to_owned().into(),
        texts: texts.collect(),
    }
}

fn german_and_english() -> [Catalogue<'static>; 2] {
    let german = json!({
        "greeting": "Guten Tag, {name}!",
        "invoice.total": "Summe",
        "terms_html": "Zahlbar bis <b>{date}</b> & netto",
        "pages": {"one": "{count} Seite", "other": "{count} Seiten", "=0": "leer"},
    });
    let english = json!({"greeting": "Hello, {name}!", "only.english": "Fine print"});
    [catalogue("de", german), catalogue("en", english)]
}

fn filled(template: &str, undefined: Undefined) -> Result<Rendered, Diagnostic> {
    filled_with(template, &[], undefined)
}

fn filled_with(template: &str, partials: &[(&str, &str)], undefined: Undefined) -> Result<Rendered, Diagnostic> {
    let sources = Sources::new(template, partials.iter().copied()).with_catalogues(german_and_english());
    render(sources, context(), undefined)
}

/// Returns the text of a strict template.
fn text(template: &str) -> String {
    let rendered =
        filled(template, Undefined::Refuse).unwrap_or_else(|diagnostic| panic!("{template}: {diagnostic:?}"));
    rendered.text
}

/// Returns the text of the key `x` with a number in a language.
fn counted(language: &str, forms: &serde_json::Value, count: &str) -> String {
    let template = format!("{{{{ t('x', count={count}) }}}}");
    let sources = Sources::from(template.as_str()).with_catalogues([catalogue(language, json!({ "x": forms }))]);
    render(sources, context(), Undefined::Refuse).map_or_else(|diagnostic| diagnostic.message, |rendered| rendered.text)
}

fn place(place: &Place) -> String {
    let partial = place.partial.as_deref().unwrap_or_default();
    format!("{partial}:{}:{}", place.line, place.column)
}

/// Returns the warnings as `message@partial:line:column`.
fn warnings(template: &str, partials: &[(&str, &str)]) -> Vec<String> {
    let rendered = filled_with(template, partials, Undefined::Warn);
    let rendered = rendered.unwrap_or_else(|diagnostic| panic!("{template}: {diagnostic:?}"));
    let warnings = rendered.warnings.iter();
    warnings
        .map(|warning| format!("{}@{}", warning.kind, place(&warning.place)))
        .collect()
}

#[test]
fn placeholders_are_replaced_by_arguments() {
    assert_eq!(
        text("{{ t('greeting', name='Ada') }} {{ t('invoice.total') }}"),
        "Guten Tag, Ada! Summe"
    );
    let texts = json!({"x": "{{{a}}} {b}{a} }}{{ {", "y": "{none} {list} {flag} {size}"});
    let sources = |template| Sources::from(template).with_catalogues([catalogue("de", texts.clone())]);
    let printed = |template| render(sources(template), context(), Undefined::Refuse).map(|rendered| rendered.text);
    assert_eq!(
        printed("{{ t('x', a=1, b='ü', unused=2) }}"),
        Ok("{1} ü1 }{ {".to_owned())
    );
    // As the engine prints them.
    let arguments = "{% set a = {'none': none, 'list': [1, 'b'], 'flag': true, 'size': 1234.5} %}";
    let by_engine = "{{ a.none }} {{ a.list }} {{ a.flag }} {{ a.size }}";
    assert_eq!(
        printed(&format!("{arguments}{{{{ t('y', **a) }}}}")),
        printed(&format!("{arguments}{by_engine}"))
    );
}

#[test]
fn a_count_selects_the_plural_form_of_the_language() {
    let english = json!({"one": "{count} page", "other": "{count} pages"});
    for (count, expected) in [
        ("1", "1 page"),
        ("'1'", "1 page"),
        ("1.0", "1 page"),
        ("'1.00'", "1 page"),
        ("0", "0 pages"),
        ("1.5", "1.5 pages"),
        ("1234567", "1,234,567 pages"),
        ("''", " pages"),
        ("none", " pages"),
    ] {
        assert_eq!(counted("en", &english, count), expected, "{count}");
    }
    let polish =
        json!({"one": "{count} plik", "few": "{count} pliki", "many": "{count} plików", "other": "{count} pliku"});
    for (count, expected) in [
        ("1", "1 plik"),
        ("3", "3 pliki"),
        ("5", "5 plików"),
        ("22", "22 pliki"),
        ("1.5", "1,5 pliku"),
    ] {
        assert_eq!(counted("pl", &polish, count), expected, "{count}");
    }
    let arabic = json!({"zero": "z", "one": "o", "two": "t", "few": "f {count}", "many": "m", "other": "x"});
    for (count, expected) in [
        ("0", "z"),
        ("1", "o"),
        ("2", "t"),
        ("5", "f ٥"),
        ("11", "m"),
        ("100", "x"),
    ] {
        assert_eq!(counted("ar-EG", &arabic, count), expected, "{count}");
    }
    // A form that is missing, and a tag that is no locale.
    assert_eq!(counted("pl", &json!({"one": "a", "other": "b"}), "3"), "b");
    assert_eq!(counted("x-y", &english, "1"), "1 pages");
}

#[test]
fn exact_forms_come_before_categories() {
    let forms = json!({"=0": "none", "=1": "just one", "=1000": "many", "one": "one", "other": "{count}"});
    for (count, expected) in [
        ("0", "none"),
        ("'0.0'", "none"),
        ("1", "just one"),
        ("1000", "many"),
        ("2", "2"),
    ] {
        assert_eq!(counted("en", &forms, count), expected, "{count}");
    }
    assert!(counted("en", &forms, "'many'").contains("\"many\" is not a number"));
}

#[test]
fn texts_are_escaped_unless_their_key_ends_with_html() {
    assert_eq!(text("{{ t('greeting', name='<b>&') }}"), "Guten Tag, &lt;b&gt;&amp;!");
    assert_eq!(text("{{ t('greeting', name='<b>'|safe) }}"), "Guten Tag, &lt;b&gt;!");
    assert_eq!(
        text("{{ t('terms_html', date='<i>') }}"),
        "Zahlbar bis <b>&lt;i&gt;</b> & netto"
    );
    assert_eq!(
        text("{{ t('terms_html', date='<i>'|safe) }}"),
        "Zahlbar bis <b><i></b> & netto"
    );
    assert_eq!(
        text("{% autoescape false %}{{ t('terms_html', date='<i>') }}{% endautoescape %}"),
        "Zahlbar bis <b>&lt;i&gt;</b> & netto"
    );
    // A key that is missing is no HTML.
    let rendered = filled("{{ t('<b>_html') }}{{ t('<i>'|safe) }}", Undefined::Warn).expect("it is filled");
    assert_eq!(rendered.text, "&lt;b&gt;_html&lt;i&gt;");
}

#[test]
fn missing_texts_are_replaced_with_a_warning_at_each_place() {
    let template = "{{ t('only.english') }}\n{% for line in lines %}ä {{ t('none') }}{{ t(line.text) }}{% endfor %}\
                    {{ t('none') }}{{ fax }}{{ t('greeting', name=t('none')) }}\n{{ t('terms_html') }}{{ t('pages') }}";
    let rendered = filled(template, Undefined::Warn).map(|rendered| rendered.text);
    let expected =
        "Fine print\nä noneOneä noneTwononeGuten Tag, none!\nZahlbar bis <b>{date}</b> & netto{count} Seiten";
    assert_eq!(rendered.as_deref(), Ok(expected));
    assert_eq!(
        warnings(template, &[]),
        [
            "the text \"only.english\" is missing in de, and printed in en@:1:4",
            "the text \"none\" is missing, and its key is printed@:2:29",
            "the text \"One\" is missing, and its key is printed@:2:44",
            "the text \"Two\" is missing, and its key is printed@:2:44",
            "the text \"none\" is missing, and its key is printed@:2:74",
            "fax is undefined and counts as empty@:2:89",
            "the text \"none\" is missing, and its key is printed@:2:117",
            "the text \"terms_html\" in de needs the argument date, which is missing@:3:4",
            "the text \"pages\" in de needs the argument count, which is missing@:3:25",
        ]
    );
}

#[test]
fn warnings_are_placed_in_partials_macros_and_blocks() {
    let partials = [
        ("layout", "\n{% block body %}{% endblock %}{{ t('in layout') }}"),
        ("macros", "{% macro m(key) %}\n{{ t(key) }}{% endmacro %}"),
        ("row", "{{ t('in row') }}"),
    ];
    let template = "{% extends 'layout' %}{% import 'macros' as m %}{% block body %}{{ m.m('in macro') }}{% include 'row' %}\
                    {% include 'row' %}{% filter upper %}{% do t('done') %}{% set _ = t %}{{ _('alias') }}{% endfilter %}\
                    {% endblock %}";
    let missing = |key: &str, place: &str| format!("the text {key:?} is missing, and its key is printed@{place}");
    assert_eq!(
        warnings(template, &partials),
        [
            missing("done", ":1:148"),
            missing("alias", ":1:171"),
            missing("in layout", "layout:2:34"),
            missing("in macro", "macros:2:4"),
            missing("in row", "row:1:4"),
        ]
    );
}

#[test]
fn warnings_are_limited() {
    let template = "{% for i in range(300) %}{{ t('key ' ~ i) }}{% endfor %}";
    let warned = warnings(template, &[]);
    assert_eq!(warned.len(), 100);
    let template = "{{ fax }}{{ t('none') }}".repeat(70);
    assert_eq!(warnings(&template, &[]).len(), 100);
    let long = warnings("{{ t('x' * 100000) }}", &[]);
    assert!(long[0].len() < 300, "{long:?}");
}

#[test]
fn missing_texts_are_errors_in_strict_templates() {
    for (template, message) in [
        ("ä\n {{ t('none') }}", "the text \"none\" is missing"),
        (
            "ä\n {{ t('only.english') }}",
            "the text \"only.english\" is missing in de",
        ),
        (
            "ä\n {{ t('greeting') }}",
            "the text \"greeting\" in de needs the argument name",
        ),
        (
            "ä\n {{ t('pages') }}",
            "the text \"pages\" in de needs the argument count",
        ),
        ("ä\n {{ t(nil) }}", "`nil` is undefined"),
        ("ä\n {{ t('greeting', name=nil) }}", "`nil` is undefined"),
        ("ä\n {{ t('pages', count=nil) }}", "`nil` is undefined"),
    ] {
        let partials = [
            ("macro", "{% macro m() %}\nä\n{{ t('none') }}{% endmacro %}"),
            ("row", template),
        ];
        for (template, expected) in [(template, ":2:"), ("{% include 'row' %}", "row:2:")] {
            let diagnostic = filled_with(template, &partials, Undefined::Refuse).expect_err(template);
            assert_eq!(
                (diagnostic.kind, diagnostic.message.as_str()),
                (DiagnosticKind::Undefined, message)
            );
            let found = diagnostic.place.as_ref().map(place).unwrap_or_default();
            assert!(found.starts_with(expected), "{template}: {found}");
        }
        let looped = "{% from 'macro' import m %}{% for line in lines %}{{ m() }}{% endfor %}";
        let diagnostic = filled_with(looped, &partials, Undefined::Refuse).expect_err(looped);
        assert_eq!(diagnostic.place.as_ref().map(place).as_deref(), Some("macro:3:4"));
    }
}

#[test]
fn what_is_no_key_is_an_error() {
    for (template, message) in [
        ("{{ t(7) }}", "a key is a text such as 'total', not number"),
        ("{{ t() }}", "missing argument"),
        ("{{ t('total', 'x') }}", "too many"),
    ] {
        let diagnostic = filled(template, Undefined::Warn).expect_err(template);
        assert_eq!(diagnostic.kind, DiagnosticKind::Operation, "{diagnostic:?}");
        assert!(diagnostic.message.contains(message), "{diagnostic:?}");
    }
}

#[test]
fn texts_of_a_base_language_need_no_translation() {
    let austrian = catalogue("de-AT", json!({"month": "Jänner"}));
    let base = catalogue("de", json!({"month": "Januar", "day": "Tag"}));
    let sources = Sources::from("{{ t('month') }} {{ t('day') }}").with_catalogues([austrian, base]);
    let rendered = render(sources, context(), Undefined::Refuse).map(|rendered| rendered.text);
    assert_eq!(rendered.as_deref(), Ok("Jänner Tag"));
    // `de` is no variant of `d`.
    let other = catalogue("d", json!({"day": "x"}));
    let sources = Sources::from("{{ t('day') }}").with_catalogues([catalogue("de", json!({})), other]);
    assert!(render(sources, context(), Undefined::Refuse).is_err());
}

#[test]
fn without_catalogues_every_text_is_missing() {
    for template in [
        "{{ t('<key>', name=1) }}",
        "{{ nil }}{{ t('<key>') }}",
        "{% macro m() %}{{ t('<key>') }}{% endmacro %}{{ m() }}",
        "{% include 'p' %}",
    ] {
        let sources = Sources::new(template, [("p", "{{ t('<key>') }}")]);
        let rendered = render(sources.clone(), context(), Undefined::Warn).expect(template);
        assert_eq!(rendered.text, "&lt;key&gt;");
        let last = rendered.warnings.last().map(|warning| warning.kind.to_string());
        assert_eq!(
            last.as_deref(),
            Some("the text \"<key>\" is missing, and its key is printed")
        );
        let diagnostic = render(sources, context(), Undefined::Refuse).expect_err(template);
        assert_eq!(diagnostic.kind, DiagnosticKind::Undefined, "{diagnostic:?}");
    }
}

#[test]
fn names_of_the_template_and_its_context_hide_the_function() {
    let own = Value::from(Serde(
        json!({"t": {"x": "member"}, "lines": [1], "language": "Latin", "locale": "fr"}),
    ));
    for (template, expected) in [
        (
            "{% macro t(key) %}[{{ key }}]{% endmacro %}{{ t('greeting') }}{{ nil }}",
            "[greeting]",
        ),
        (
            "{% macro row() %}{{ t('a') }}{% endmacro %}{% macro t(k) %}[{{ k }}]{% endmacro %}{{ row() }}{{ nil }}",
            "[a]",
        ),
        ("{% from 'own' import t %}{{ t('a') }}{{ nil }}", "(a)"),
        ("{% import 'own' as t %}{{ t.t('a') }}{{ nil }}", "(a)"),
        (
            "{% macro t() %}[{{ caller() }}]{% endmacro %}{% call t() %}in{% endcall %}{{ nil }}",
            "[in]",
        ),
        (
            "{% macro m() %}!{% endmacro %}{% for t in [m] %}{{ t() }}{% endfor %}{{ nil }}",
            "!",
        ),
        ("{% set t = 'set' %}{{ t }}{% if t %}{{ nil }}{% endif %}", "set"),
        ("{{ t.x }}{{ nil }}", "member"),
        ("{% set t = nil %}{{ t }}{% if t %}{% endif %}", ""),
        ("{{ language }} {{ 1.5|number }}{{ nil }}", "Latin 1,5"),
    ] {
        for catalogues in [Vec::new(), german_and_english().to_vec()] {
            let partials = [("own", "{% macro t(key) %}({{ key }}){% endmacro %}")];
            let sources = Sources::new(template, partials).with_catalogues(catalogues);
            let rendered = render(sources, own.clone(), Undefined::Warn).expect(template);
            assert_eq!(rendered.text, expected, "{template}");
            assert_eq!(rendered.warnings.len(), 1, "{template}: {:?}", rendered.warnings);
        }
    }
    // Without catalogues, the names mean nothing.
    let template = "{{ t is defined }}{{ t|default('d') }}{{ language is defined }}{{ locale is defined }}{{ nil }}";
    let rendered = render(template, context(), Undefined::Warn).map(|rendered| rendered.text);
    assert_eq!(rendered.as_deref(), Ok("FalsedFalseFalse"));
    let diagnostic = render("{{ t.x }}", context(), Undefined::Refuse).map_err(|diagnostic| diagnostic.message);
    assert_eq!(diagnostic, Err("`t` is undefined".to_owned()));
}

#[test]
fn the_chosen_language_is_a_variable_and_the_locale_of_filters() {
    assert_eq!(
        text("<html lang=\"{{ language }}\">{{ 1.5|number }}"),
        "<html lang=\"de\">1,5"
    );
    assert_eq!(
        text("{% macro m(n) %}{{ n|number(1, locale=locale) }}{% endmacro %}{{ m(1.5) }}"),
        "1,5"
    );
    assert_eq!(
        text("{{ 1.5|number(locale='en') }}{% set locale = 'fr' %}{{ 0.5|percent }}"),
        "1.550\u{a0}%"
    );
    let unknown = Sources::from("{{ language }} {{ 1.5|number }}").with_catalogues([catalogue("x-y", json!({}))]);
    let rendered = render(unknown, context(), Undefined::Refuse).map(|rendered| rendered.text);
    assert_eq!(rendered.as_deref(), Ok("x-y 1.5"));
}

#[test]
fn texts_are_traced_to_the_line_of_their_call() {
    let sources =
        Sources::from("<p>\n{{ t('invoice.total') }}\n{{ t('only.english') }}").with_catalogues(german_and_english());
    for undefined in [Undefined::Warn, Undefined::Refuse] {
        let traced = trace(sources.clone(), context(), undefined);
        let lines = traced.map(|traced| {
            traced
                .texts
                .iter()
                .map(|text| (text.line, text.text.clone()))
                .collect::<Vec<_>>()
        });
        match undefined {
            Undefined::Warn => assert_eq!(lines, Ok(vec![(2, "Summe".to_owned()), (3, "Fine print".to_owned())])),
            Undefined::Refuse => assert_eq!(
                lines.map_err(|diagnostic| diagnostic.kind),
                Err(DiagnosticKind::Undefined)
            ),
        }
    }
}

#[test]
fn the_function_shows_nothing_of_its_catalogues() {
    assert_eq!(text("{{ t }}{{ t|string }}{{ [t]|tojson|length > 100 }}"), "ttFalse");
}
