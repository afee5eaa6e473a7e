use minijinja::{Value, value::Serde};
use serde_json::json;

use super::{schema, translation_keys, unused};
use crate::sources::{Catalogue, Sources};

const INVOICE: &str = "
    {% macro address(who) %}{{ who.name }}, {{ who['city'] }}{% if who.country %}, {{ who.country }}{% endif %}{% endmacro %}
    {{ address(customer) }}
    {% for line in lines|sort(attribute='position') %}
      {{ loop.index }} {{ line.text }} {{ line.price|currency('EUR') }} {{ line.price * line.count }}
      {% for key, value in line.extras|items %}{{ key }}={{ value.label }}{% endfor %}
    {% endfor %}
    {% for group in lines|groupby('kind') %}{{ group.grouper }}: {{ group.list|map(attribute='tax.rate')|join }}{% endfor %}
    {{ note|default('-') }} {{ lines[0].text }} {% set total = sums.net %}{{ total }}
    {% if status == 'paid' %}{{ 'Paid'|upper }}{% endif %} {{ data|tojson }}";

#[test]
fn a_schema_knows_attributes_loops_macros_and_types() {
    let schema = schema(INVOICE).unwrap_or_default();
    let properties = &schema["properties"];
    assert_eq!(
        schema["required"],
        json!(["customer", "lines", "sums", "status", "data"])
    );
    assert_eq!(properties["customer"]["required"], json!(["name", "city"]));
    assert_eq!(
        properties["customer"]["properties"]["country"]["type"],
        json!(["string", "number", "boolean", "null"])
    );
    let line = &properties["lines"]["items"];
    assert_eq!(properties["lines"]["type"], "array");
    assert_eq!(line["properties"]["price"]["type"], "number");
    assert_eq!(
        line["properties"]["tax"]["properties"]["rate"]["type"],
        json!(["string", "number", "boolean"])
    );
    assert_eq!(
        line["properties"]["extras"]["additionalProperties"]["required"],
        json!(["label"])
    );
    assert_eq!(line["required"], json!(["text", "price", "count", "extras", "kind"]));
    assert_eq!(
        properties["sums"]["properties"]["net"]["type"],
        json!(["string", "number", "boolean"])
    );
    assert_eq!(properties["status"]["type"], "string");
    assert_eq!(properties["locale"]["type"], "string");
    for local in ["line", "loop", "total", "address", "who", "group", "key"] {
        assert!(properties.get(local).is_none(), "{local} is the template's own");
    }
}

#[test]
fn a_context_is_told_what_is_never_used() {
    let context = json!({
        "customer": {"name": "A", "city": "B", "fax": "1"},
        "lines": [{"text": "x", "sku": 1}, {"text": "y", "sku": 2, "extras": {"a": {"label": "l", "b": 1}}}],
        "note": {"any": "thing"}, "data": {"deep": {"er": 1}}, "spare": {"a": 1}, "locale": "de"
    });
    let unused = unused(INVOICE, &Value::from(Serde(&context))).unwrap_or_default();
    assert_eq!(unused, ["customer.fax", "lines[].sku", "lines[].extras.a.b", "spare"]);
}

#[test]
fn macros_that_call_themselves_end() {
    let template = "{% macro tree(n) %}{{ n.name }}{% for c in n.left %}{{ tree(c) }}{{ tree(c.x) }}{% endfor %}\
                    {% for c in n.right %}{{ tree(c.y) }}{{ tree(c) }}{% endfor %}{% endmacro %}\
                    {{ tree(root) }}{{ tree(root.left) }}";
    let schema = schema(template).unwrap_or_default();
    assert_eq!(
        schema["properties"]["root"]["required"],
        json!(["name", "left", "right"])
    );
}

#[test]
fn faults_of_syntax_are_reported_with_their_place() {
    let place = schema("a\n{{ b").err().and_then(|diagnostic| diagnostic.place);
    assert_eq!(place.map(|place| place.line), Some(2));
}

#[test]
fn names_are_any_unicode_identifiers() {
    let template = "{{ größe }}{% for straße in anschrift.straßen %}{{ straße }}{% endfor %}";
    let schema = schema(template).unwrap_or_default();
    assert_eq!(schema["required"], json!(["größe", "anschrift"]));
    assert_eq!(schema["properties"]["anschrift"]["required"], json!(["straßen"]));
    let context = Value::from(Serde(
        json!({"größe": 1, "höhe": 2, "anschrift": {"straßen": [], "plätze": []}}),
    ));
    assert_eq!(
        unused(template, &context),
        Ok(vec!["höhe".to_owned(), "anschrift.plätze".to_owned()])
    );
}

#[test]
fn what_catalogues_provide_is_no_name_of_the_context() {
    let template = "{{ language }}{{ locale }}{{ t('total', count=lines|length, name=customer.name) }}{{ t }}";
    let without = schema(template).unwrap_or_default();
    assert_eq!(
        without["required"],
        json!(["language", "locale", "lines", "customer", "t"])
    );
    let catalogue = Catalogue {
        language: "de".into(),
        texts: std::collections::BTreeMap::new(),
    };
    let sources = Sources::from(template).with_catalogues([catalogue]);
    let with = schema(sources.clone()).unwrap_or_default();
    assert_eq!(with["required"], json!(["lines", "customer"]));
    assert_eq!(with["properties"]["language"], json!(null));
    assert_eq!(with["properties"]["customer"]["required"], json!(["name"]));
    // A context may set the language nevertheless.
    let context = Value::from(Serde(json!({"language": "en", "lines": [], "t": 1, "x": 1})));
    assert_eq!(unused(sources, &context), Ok(vec!["x".to_owned()]));
}

/// Returns the keys as `key(arguments)@partial:line:column`.
fn keys(template: &str, partials: &[(&str, &str)]) -> Vec<String> {
    let keys = translation_keys(Sources::new(template, partials.iter().copied()));
    let keys = keys.unwrap_or_else(|diagnostic| panic!("{diagnostic:?}")).into_iter();
    let described = keys.map(|key| {
        let (place, partial) = (&key.place, key.place.partial.as_deref().unwrap_or_default());
        format!(
            "{}({})@{partial}:{}:{}",
            key.key,
            key.arguments.join(", "),
            place.line,
            place.column
        )
    });
    described.collect()
}

#[test]
fn constant_keys_are_listed_once_with_all_arguments_and_the_first_place() {
    let template = "{% extends 'layout' %}{% import 'macros' as m %}{% block body %}\n{{ t('a', count=n) }}{{ t('b') }}\
                    {{ t('a', count=1, name='x', **more)|upper }}{{ t(key) }}{{ t('c' ~ n) }}{{ t('') }}{{ x.t('d') }}\n\
                    {% for line in lines if t('e') %}{% include 'row' %}{% endfor %}{% set f = t('f') %}{% endblock %}";
    let partials = [
        (
            "layout",
            "{{ t('title') }}{% block body %}{{ t('replaced') }}{% endblock %}{{ t('b') }}",
        ),
        (
            "macros",
            "{% macro m() %}\nä {{ t('in macro', a=t('nested')) }}{% endmacro %}",
        ),
        ("row", "{{ t('row') }}"),
    ];
    let expected = [
        "in macro(a)@macros:2:6",
        "nested()@macros:2:22",
        "a(count, name)@:2:4",
        "b()@:2:25",
        "e()@:3:25",
        "row()@row:1:4",
        "f()@:3:76",
        "title()@layout:1:4",
    ];
    assert_eq!(keys(template, &partials), expected);
    let many: Vec<_> = (0..2500).map(|number| format!("{{{{ t('{number}') }}}}")).collect();
    assert_eq!(keys(&many.concat(), &[]).len(), 2000);
}

#[test]
fn calls_of_an_own_function_print_no_texts() {
    for template in [
        "{% macro t(key) %}{{ key }}{% endmacro %}{{ t('a') }}",
        "{% from 'own' import t %}{{ t('a') }}",
        "{% set t = m %}{{ t('a') }}",
        "{% for t in functions %}{{ t('a') }}{% endfor %}",
        "{% macro m(t) %}{{ t('a') }}{% endmacro %}",
    ] {
        assert_eq!(
            keys(template, &[("own", "{% macro t(k) %}{% endmacro %}")]),
            [""; 0],
            "{template}"
        );
    }
    assert_eq!(keys("{% for t in x %}{% endfor %}{{ t('a') }}", &[]), ["a()@:1:32"]);
}
