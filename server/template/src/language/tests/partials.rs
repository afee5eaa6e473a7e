//! Templates that use partials.

use minijinja::{Value, value::Serde};
use serde_json::json;

use super::{context, undefined_name};
use crate::{
    analysis,
    diagnostic::{Diagnostic, DiagnosticKind, Place},
    language::{Rendered, Undefined, render, trace},
    partials::MOST_LEVELS,
    sources::Sources,
};

const LETTERHEAD: &str = "<header>{{ customer.name }}</header>\n{% block body %}empty{% endblock %}\n<footer>{% block foot %}\
                          Thanks{% endblock %}</footer>";
const MACROS: &str = "{% macro price(value) %}{{ value }} €{% endmacro %}{% set unit = 'pcs' %}";

fn sources<'a>(template: &'a str, partials: &[(&'a str, &'a str)]) -> Sources<'a> {
    Sources::new(template, partials.iter().copied())
}

fn filled(template: &str, partials: &[(&str, &str)]) -> Result<Rendered, Diagnostic> {
    render(sources(template, partials), context(), Undefined::Warn)
}

fn place(place: &Place) -> String {
    let partial = place.partial.as_deref().unwrap_or_default();
    format!("{partial}:{}:{}", place.line, place.column)
}

#[test]
fn partials_are_included_extended_and_imported() {
    let template = "{% extends 'letterhead' %}{% import 'macros' as m %}{% from 'macros' import price as p %}\
                    {% block body %}{% for line in lines %}{% include 'row' %}{% endfor %}{{ m.price(2) }} {{ m.unit }} \
                    {{ p(3) }}{% endblock %}{% block foot %}{{ super() }}!{% endblock %}";
    let partials = [
        ("letterhead", LETTERHEAD),
        ("macros", MACROS),
        ("row", "{{ loop.index }}. {{ line.text }}; "),
    ];
    let rendered = filled(template, &partials);
    let expected = "<header>Ada &amp; Co</header>\n1. One; 2. Two; 2 € pcs 3 €\n<footer>Thanks!</footer>";
    assert_eq!(
        rendered.map(|rendered| (rendered.text, rendered.warnings)),
        Ok((expected.to_owned(), Vec::new()))
    );
}

#[test]
fn the_deepest_partials_leave_room_for_loops_and_macros() {
    let partial = |level: usize| {
        let below = if level < MOST_LEVELS {
            format!("{{% include 'p{}' %}}", level + 1)
        } else {
            "deep".to_owned()
        };
        format!(
            "{{% macro m() %}}{{% for i in [1] %}}{{% with x = i %}}{{% filter upper %}}{below}{{% endfilter %}}{{% endwith %}}\
             {{% endfor %}}{{% endmacro %}}{{% for i in [1] %}}{{% if i %}}{{{{ m() }}}}{{% endif %}}{{% endfor %}}"
        )
    };
    let partials: Vec<_> = (1..=MOST_LEVELS)
        .map(|level| (format!("p{level}"), partial(level)))
        .collect();
    let partials: Vec<_> = partials
        .iter()
        .map(|(handle, content)| (&**handle, &**content))
        .collect();
    let rendered = filled("{% for i in [1] %}{% include 'p1' %}{% endfor %}", &partials);
    assert_eq!(rendered.map(|rendered| rendered.text), Ok("DEEP".to_owned()));
}

#[test]
fn a_partial_that_is_missing_fails_unless_that_is_ignored() {
    assert_eq!(
        filled("a{% include 'x' ignore missing %}b", &[]).map(|rendered| rendered.text),
        Ok("ab".to_owned())
    );
    let diagnostic = filled("a\n{% include 'x' %}", &[("y", "")]).expect_err("it is missing");
    assert_eq!(diagnostic.kind, DiagnosticKind::Operation);
    assert_eq!(diagnostic.place.as_ref().map(place).as_deref(), Some(":2:4"));
}

#[test]
fn errors_are_placed_in_the_partial_in_which_they_happen() {
    let outer = "<p>\n  {% include 'inner' %}";
    for (inner, kind, expected) in [
        ("\n\n{{ 1 / 0 }}", DiagnosticKind::Operation, "inner:3:4"),
        ("{{ 'a'|nope }}", DiagnosticKind::Operation, "inner:1:8"),
        ("äö {{ missing.name }}", DiagnosticKind::Undefined, "inner:1:7"),
        ("a\n{% if x %}", DiagnosticKind::Syntax, "inner:2:1"),
        (
            "\n{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
            DiagnosticKind::Time,
            "inner",
        ),
    ] {
        let partials = [("outer", outer), ("inner", inner)];
        for template in ["{{ customer.name }}{% include 'outer' %}", "\n{% extends 'outer' %}"] {
            let diagnostic = render(sources(template, &partials), context(), Undefined::Refuse).expect_err(inner);
            assert_eq!(diagnostic.kind, kind, "{inner}: {diagnostic:?}");
            let found = diagnostic.place.as_ref().map(place).unwrap_or_default();
            assert!(found.starts_with(expected), "{template} {inner}: {found}");
        }
    }
    // In a macro, a block and a layout.
    let partials = [
        ("macros", "{% macro m(a) %}\n{{ a / 0 }}{% endmacro %}"),
        ("layout", "\n{% block a %}{{ 1 / 0 }}{% endblock %}{{ 'x'|nope }}"),
    ];
    for (template, expected) in [
        ("{% import 'macros' as m %}{{ m.m(1) }}", "macros:2:4"),
        ("{% extends 'layout' %}", "layout:2:17"),
        (
            "{% extends 'layout' %}{% block a %}\n{{ super() }}{% endblock %}",
            "layout:2:17",
        ),
        ("{% extends 'layout' %}{% block a %}{% endblock %}", "layout:2:"),
        ("{% extends 'layout' %}{% block a %}\n{{ 2 / 0 }}{% endblock %}", ":2:4"),
    ] {
        let diagnostic = filled(template, &partials).expect_err(template);
        let found = diagnostic.place.as_ref().map(place).unwrap_or_default();
        assert!(found.starts_with(expected), "{template}: {diagnostic:?}");
    }
}

#[test]
fn undefined_names_are_reported_where_they_are_in_which_partial() {
    let template = "{{ first }}{% include 'b' %}{% include 'a' %}{% include 'b' %}{{ customer.fax }}";
    let partials = [
        ("a", "\n{{ second }}"),
        ("b", "{% if false %}{{ never }}{% endif %}{{ customer.nam }}"),
    ];
    let rendered = filled(template, &partials).expect("it is filled");
    let warnings: Vec<_> = rendered
        .warnings
        .iter()
        .map(|warning| format!("{}@{}", undefined_name(warning), place(&warning.place)))
        .collect();
    let expected = [
        "first@:1:4",
        "customer.fax@:1:66",
        "second@a:2:4",
        "customer.nam@b:1:40",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(rendered.warnings[2].place.excerpt, "{{ second }}");
    // What fails after that is placed in the original, too.
    let diagnostic = filled(
        "{{ first }}{% include 'a' %}",
        &[("a", "{{ second }}\n{{ customer|nope }}")],
    );
    let diagnostic = diagnostic.expect_err("an unknown filter");
    assert_eq!(diagnostic.place.as_ref().map(place).as_deref(), Some("a:2:13"));
}

#[test]
fn text_of_partials_is_traced_to_the_tag_that_uses_them() {
    let template = "<h1>Invoice\n{% include 'a' %}\n<p>end";
    let traced = trace(
        sources(template, &[("a", "<p>one\n<p>two")]),
        context(),
        Undefined::Refuse,
    );
    let texts: Vec<_> = traced
        .expect("it is filled")
        .texts
        .into_iter()
        .map(|text| format!("{}: {}", text.line, text.text))
        .collect();
    assert_eq!(texts, ["1: Invoice", "2: one two", "3: end"]);
}

#[test]
fn partials_may_be_nested_as_deeply_as_allowed() {
    let names: Vec<String> = (0..=8).map(|level| format!("p{level}")).collect();
    let texts: Vec<String> = (1..=8)
        .map(|level| format!("{{% for i in [1] %}}{level}{{% include 'p{level}' %}}{{% endfor %}}"))
        .collect();
    let mut partials: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    partials.push(("p8", "end"));
    // `p0` is the template itself.
    let rendered = filled(&texts[0], &partials[1..]);
    assert_eq!(rendered.map(|rendered| rendered.text), Ok("12345678end".to_owned()));
}

#[test]
fn names_are_followed_into_partials() {
    let template = "{% extends 'letterhead' %}{% import 'macros' as m %}{% from 'macros' import address as at %}\
                    {% block body %}{% for line in lines %}{% include 'row' %}{{ m.price(line.price) }}{% endfor %}\
                    {{ at(customer) }}{% endblock %}";
    let partials = [
        (
            "letterhead",
            "{{ title }}{% block body %}{{ replaced }}{% endblock %}{% block foot %}{{ foot }}{% endblock %}",
        ),
        (
            "macros",
            "{% macro price(p) %}{{ p|currency(money) }}{% endmacro %}{% macro address(who) %}{{ who.city }}{% endmacro %}",
        ),
        ("row", "{{ line.text }}{{ loop.index }}"),
    ];
    let schema = analysis::schema(sources(template, &partials)).expect("a schema");
    assert_eq!(
        schema["required"],
        json!(["money", "lines", "customer", "title", "foot"])
    );
    assert_eq!(
        schema["properties"]["lines"]["items"]["required"],
        json!(["text", "price"])
    );
    assert_eq!(schema["properties"]["customer"]["required"], json!(["city"]));
    let context =
        json!({"title": "t", "lines": [{"text": "x", "sku": 1}], "customer": {"city": "B", "fax": "1"}, "x": 1});
    let unused = analysis::unused(sources(template, &partials), &Value::from(Serde(context)));
    assert_eq!(
        unused,
        Ok(vec![
            "lines[].sku".to_owned(),
            "customer.fax".to_owned(),
            "x".to_owned()
        ])
    );
    // The block that `super` prints is used.
    let template = "{% extends 'letterhead' %}{% block body %}{{ super() }}{% endblock %}";
    let schema = analysis::schema(sources(template, &partials)).expect("a schema");
    assert_eq!(schema["required"], json!(["title", "replaced", "foot"]));
}

#[test]
fn partials_that_use_others_many_times_are_analyzed_within_limits() {
    let names: Vec<String> = (0..=8).map(|level| format!("p{level}")).collect();
    let texts: Vec<String> = (1..=8)
        .map(|level| format!("{{% include 'p{level}' %}}").repeat(100))
        .collect();
    let partials: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert!(analysis::schema(sources("{% include 'p0' %}{{ a }}", &partials)).is_ok());
}
