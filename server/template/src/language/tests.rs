mod partials;
mod reference;
mod translations;

use minijinja::{Value, value::Serde};
use serde_json::json;

use super::{LONGEST_OUTPUT, Rendered, Undefined, check, render, trace};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Warning, WarningKind};

fn context() -> Value {
    Value::from(Serde(json!({
        "customer": {"name": "Ada & Co"},
        "lines": [{"text": "One", "price": 1}, {"text": "Two"}],
        "flag": false
    })))
}

fn lenient(template: &str) -> Rendered {
    render(template, context(), Undefined::Warn).unwrap_or_else(|diagnostic| panic!("{template}: {diagnostic:?}"))
}

fn refused(template: &str) -> Diagnostic {
    render(template, context(), Undefined::Refuse)
        .err()
        .unwrap_or_else(|| panic!("{template} is accepted"))
}

fn undefined_name(warning: &Warning) -> &str {
    match &warning.kind {
        WarningKind::Undefined { name } => name,
        other => panic!("not about an undefined value: {other:?}"),
    }
}

/// Returns the warnings as `name@line:column`.
fn warnings(template: &str) -> Vec<String> {
    lenient(template)
        .warnings
        .into_iter()
        .map(|warning| {
            let place = &warning.place;
            format!("{}@{}:{}", undefined_name(&warning), place.line, place.column)
        })
        .collect()
}

/// Returns the text of a filled template as `line: words`.
fn lines(template: &str, undefined: Undefined) -> Vec<String> {
    let traced = trace(template, context(), undefined).unwrap_or_else(|diagnostic| panic!("{diagnostic:?}"));
    assert_eq!(Ok(traced.rendered), render(template, context(), undefined));
    let texts = traced.texts.into_iter();
    texts.map(|text| format!("{}: {}", text.line, text.text)).collect()
}

#[test]
fn text_is_traced_to_the_line_that_made_it_in_loops_conditions_and_values() {
    let template = "<h1>Invoice</h1>\n<p>{{ customer.name }}\n{% for line in lines %}\n<p>{{ line.text }} a\n<b>b</b>\n\
                    {% endfor %}\n{% if flag %}\nno\n{% else %}\nyes\n{% endif %}\nend";
    let expected = [
        "1: Invoice",
        "2: Ada & Co",
        "4: One a",
        "5: b",
        "4: Two a",
        "5: b",
        "10: yes",
        "12: end",
    ];
    assert_eq!(lines(template, Undefined::Refuse), expected);
    // The template is filled again to find what is undefined.
    let template = format!("{template}{{{{ customer.fax }}}}");
    assert_eq!(lines(&template, Undefined::Warn), expected);
}

#[test]
fn text_of_macros_and_other_blocks_is_traced_to_where_it_is_printed() {
    let template = "{% macro greet(name) %}\n<p>Dear {{ name }}\n{% endmacro %}\n<h1>x\n{{ greet('Ada') }}\n\
                    {% set block %}\ninner\n{% endset %}\n<p>{{ block }}\n{% raw %}{{ raw }}{% endraw %}";
    let expected = ["4: x", "5: Dear Ada", "9: inner", "10: {{ raw }}"];
    assert_eq!(lines(template, Undefined::Refuse), expected);
}

#[test]
fn values_are_escaped_and_safe_ones_are_not() {
    assert_eq!(lenient("{{ customer.name }} {{ '<b>'|safe }}").text, "Ada &amp; Co <b>");
}

#[test]
fn undefined_is_empty_and_reported_where_it_is_used() {
    let template = "Dear {{ customer.nam }},\n{% for line in lines %}{{ line.text }}: {{ line.price }};{% endfor %}\n\
                    äöü {{ customer.address.city|upper }}{% for x in orders %}{{ x }}{% endfor %}{{ tax + 1 }}";
    let template = template.replace("{{ tax + 1 }}", "{{ lines[7].text ~ '!' }}{{ total|currency('EUR') }}");
    let rendered = lenient(&template);
    assert_eq!(rendered.text, "Dear ,\nOne: 1;Two: ;\näöü !");
    assert_eq!(
        warnings(&template),
        [
            "customer.nam@1:9",
            "line.price@2:44",
            "customer.address.city@3:8",
            "orders@3:50",
            "lines[7].text@3:81",
            "total@3:106"
        ]
    );
    assert_eq!(rendered.warnings[0].place.excerpt, "Dear {{ customer.nam }},");
}

#[test]
fn names_are_any_unicode_identifiers() {
    let context = || Value::from(Serde(json!({"größe": 3, "客户": {"名字": "王"}, "prénoms": ["Zoé"]})));
    let template =
        "{{ größe }} {{ 客户.名字 }}{% for prénom in prénoms %} {{ prénom }}{% endfor %}{% set año = 1 %} {{ año }}";
    let rendered = render(template, context(), Undefined::Refuse);
    assert_eq!(rendered.map(|rendered| rendered.text), Ok("3 王 Zoé 1".to_owned()));
    assert_eq!(
        warnings("äöü {{ größe }}\n{{ 客户.名字|upper }} {{ _ñ }}"),
        ["größe@1:8", "客户.名字@2:4", "_ñ@2:22"]
    );
    let diagnostic = refused("{{ größe }}");
    assert_eq!(diagnostic.message, "`größe` is undefined");
    let diagnostic = check("{% for ü in größen %}\n{{ ü. }}{% endfor %}").expect_err("no template");
    assert_eq!(diagnostic.place.map(|place| (place.line, place.column)), Some((2, 7)));
}

#[test]
fn asking_whether_something_is_there_is_no_use_of_it() {
    for template in [
        "{% if missing %}x{% endif %}{{ missing|default('d') }}{{ 'x' if missing }}{{ missing or 'd' }}",
        "{{ missing is defined }}{{ not missing }}{% if customer.vat is none or customer.vat and customer.vat > 1 %}{% endif %}",
        "{% set x = missing %}{{ x|d('') }}{% if flag %}{{ missing }}{% endif %}",
        "{% macro m(a) %}{{ a|default('') }}{% endmacro %}{{ m() }}",
    ] {
        assert_eq!(warnings(template), [""; 0], "{template}");
        assert!(render(template, context(), Undefined::Refuse).is_ok(), "{template}");
    }
}

#[test]
fn a_strict_template_refuses_what_a_lenient_one_reports() {
    let diagnostic = refused("a\n  {{ customer.nam }}");
    assert_eq!(diagnostic.kind, DiagnosticKind::Undefined);
    assert_eq!(diagnostic.message, "`customer.nam` is undefined");
    let place = diagnostic.place.map(|place| (place.line, place.column, place.excerpt));
    assert_eq!(place, Some((2, 6, "  {{ customer.nam }}".to_owned())));
    for filter in [
        "number",
        "currency('EUR')",
        "percent",
        "plural(other='x')",
        "date",
        "markdown",
        "qrcode",
        "upper",
    ] {
        let template = format!("{{{{ missing|{filter} }}}}");
        assert_eq!(refused(&template).message, "`missing` is undefined", "{filter}");
        assert_eq!(warnings(&template), ["missing@1:4"], "{filter}");
    }
}

#[test]
fn watching_a_template_changes_nothing_else_in_it() {
    // Everything that the grammar allows around a name. An undefined name is appended, so that each template is filled
    // with its names watched.
    for template in [
        "{{ -lines[0].price|abs }}{{ (customer).name }}{{ ((customer))['name'] }}{{ lines[0:1][0].text }}",
        "{{ customer.name if flag else lines[-1]['text'] }}{{ [lines[0].price, 2]|sum }}",
        "{% for a, b in customer|items %}{{ a }}{{ b }}{% endfor %}{{ {'k': customer.name}['k'] }}",
        "{% macro m(a, b=customer.name) %}{{ a.text }}{{ b }}{{ caller() }}{% endmacro %}\
         {% call m(*[lines[0]], **{'b': customer.name}) %}{{ customer.name }}{% endcall %}",
        "{% for x in [[1, [2]], [3, []]] recursive %}{{ x[0] }}{{ loop(x[1:]) if false }}{% endfor %}",
        "{% filter upper %}{{ customer.name }}{% endfilter %}{% set t %}{{ flag }}{% endset %}{{ t }}",
        "{% raw %}{{ customer.name }}{% endraw %}{# {{ customer.nix }} #}{{- customer.name -}} x",
        "{{ customer.name.upper() }}{{ 2 ** lines[0].price }}{{ lines|map(attribute='text')|join(customer.name) }}",
        "{{ 1 < lines[0].price <= 2 }}{{ lines[0].price in [1] and customer.name is string }}",
        "{% set not = customer %}{{ 'a' ~ not }}{{ 'a' ~ not.name }}{% set notes = 1 %}{{ notes }}",
    ] {
        let plain = lenient(template);
        assert!(plain.warnings.is_empty());
        let watched = lenient(&format!("{template}{{{{ missing }}}}"));
        assert_eq!(watched.text, plain.text, "{template}");
        assert_eq!(watched.warnings.len(), 1, "{template}");
    }
}

#[test]
fn faults_in_a_watched_template_lie_where_they_lie_in_the_original() {
    let diagnostic = render(
        "{{ missing }}{{ customer.name }}{{ customer|nope }}",
        context(),
        Undefined::Warn,
    )
    .err();
    let place = diagnostic
        .and_then(|diagnostic| diagnostic.place)
        .map(|place| (place.column, place.excerpt));
    assert_eq!(
        place,
        Some((45, "{{ missing }}{{ customer.name }}{{ customer|nope }}".to_owned()))
    );
}

#[test]
fn faults_say_what_and_where() {
    for (template, kind, line, message) in [
        ("a\nb\n{{ c", DiagnosticKind::Syntax, 3, "end of input"),
        ("{% for %}", DiagnosticKind::Syntax, 1, "unexpected"),
        (
            "a\n{% for i in x %}\n{% if i %}b{% endif %}{% set c = i|d(x=1) %}\n",
            DiagnosticKind::Syntax,
            2,
            "{% for %} is not closed: {% endfor %} is missing",
        ),
        (
            "{% for i in x %}\n{% if i %}\n{% endfor %}",
            DiagnosticKind::Syntax,
            2,
            "{% if %} is not closed",
        ),
        (
            "\n{% set a | upper %}\n",
            DiagnosticKind::Syntax,
            2,
            "{% set %} is not closed",
        ),
        ("{% if a %}\n{{ c", DiagnosticKind::Syntax, 2, "end of input"),
        ("{% endif %}", DiagnosticKind::Syntax, 1, "unknown statement endif"),
        ("\n{{ 'a'|nope }}", DiagnosticKind::Operation, 2, "nope"),
        ("{{ nope() }}", DiagnosticKind::Operation, 1, "nope is unknown"),
        ("\n\n{{ 1 / 0 }}", DiagnosticKind::Operation, 3, "unable to calculate"),
        (
            "{% include 'a' %}",
            DiagnosticKind::Operation,
            1,
            "non-existing template",
        ),
        (
            "{% import 'template' as t %}",
            DiagnosticKind::Operation,
            1,
            "non-existing template",
        ),
        (
            "{% extends '/etc/passwd' %}",
            DiagnosticKind::Operation,
            1,
            "does not exist",
        ),
        (
            "\n{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            DiagnosticKind::Time,
            2,
            "longer",
        ),
        (
            "{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}",
            DiagnosticKind::Operation,
            1,
            "recursion",
        ),
        ("{{ debug() }}", DiagnosticKind::Operation, 1, "debug is unknown"),
    ] {
        let diagnostic = refused(template);
        assert_eq!(diagnostic.kind, kind, "{template}: {diagnostic:?}");
        assert_eq!(
            diagnostic.place.as_ref().map(|place| place.line),
            Some(line),
            "{template}: {diagnostic:?}"
        );
        assert!(
            diagnostic.message.contains(message),
            "{template}: {}",
            diagnostic.message
        );
    }
}

#[test]
fn output_is_limited() {
    let row = "x".repeat(1 << 16);
    let template = format!("{{% for i in range(300) %}}{row}{{% endfor %}}");
    assert!(300 * row.len() > LONGEST_OUTPUT);
    assert_eq!(refused(&template).kind, DiagnosticKind::Output);
}

#[test]
fn a_check_finds_what_does_not_exist_in_parts_that_are_not_reached() {
    assert_eq!(
        check("{% if false %}{{ a|upper }}{% endif %}{{ x is odd }}{{ missing.also }}"),
        Ok(())
    );
    for (template, message, column) in [
        (
            "{% if false %}{{ a|currncy('EUR') }}{% endif %}",
            "filter currncy is unknown",
            20,
        ),
        ("{{ a is evn }}", "test evn is unknown", 9),
        ("{{ a", "unexpected end of input, expected end of variable block", 4),
    ] {
        let diagnostic = check(template).err().unwrap_or_else(|| panic!("{template} passes"));
        assert_eq!(diagnostic.message, message);
        assert_eq!(diagnostic.place.map(|place| place.column), Some(column), "{template}");
    }
}

#[test]
fn long_lines_and_many_lines_are_no_trouble() {
    let long = format!("{{{{ {} }}}}{{{{ nope() }}}}", "9".repeat(70_000));
    assert_eq!(
        check(&long).err().map(|diagnostic| diagnostic.kind),
        Some(DiagnosticKind::Syntax)
    );
    let many = "\n".repeat(70_000) + "{{ nope() }}";
    let diagnostic = refused(&many);
    assert_eq!(diagnostic.place.map(|place| place.line), Some(70_001));
    assert_eq!(diagnostic.message, "function nope is unknown");
}
