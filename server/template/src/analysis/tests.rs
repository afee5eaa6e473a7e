use minijinja::{Value, value::Serde};
use serde_json::json;

use super::{schema, unused};

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
