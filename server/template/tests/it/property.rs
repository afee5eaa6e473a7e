use minijinja::{Value, value::Serde};
use platen_template::{
    analysis,
    diagnostic::Diagnostic,
    language::{self, Undefined},
};
use proptest::prelude::*;
use serde_json::json;

/// Pieces of templates, separated by `¦`.
const PIECES: &str = "{{ ¦ }}¦{% ¦ %}¦{{- ¦ -}}¦{# ¦ #}¦if ¦else¦elif ¦endif¦for ¦in ¦endfor¦set ¦endset¦macro m(a, b=1)¦\
endmacro¦call m(1)¦endcall¦with ¦endwith¦filter upper¦endfilter¦raw¦endraw¦block x¦endblock¦\
autoescape false¦do ¦break¦recursive¦loop(x)¦a¦x¦x.y¦x['y']¦x[0]¦x[:1]¦x[¦]¦missing¦loop.index¦(¦)¦\
{¦}¦, ¦: ¦ + ¦ - ¦ * ¦ / ¦ // ¦ % ¦ ** ¦ ~ ¦ == ¦ < ¦ and ¦ or ¦ not ¦ is ¦defined¦ is not none¦|¦\
|upper¦|number(2)¦|currency('EUR')¦|date('long')¦|percent¦|plural(other=1)¦|markdown¦|qrcode¦\
|barcode('ean13')¦|default('')¦|sum¦|groupby('y')¦|map(attribute='y')¦|join¦|sort¦|items¦|first¦\
|tojson¦|replace('a', x)¦|format(x)¦range(3)¦dict(a=1)¦namespace(a=1)¦cycler([1, 2])¦'text'¦\"ä\"¦1¦\
-1¦1.5¦9223372036854775807¦1e308¦true¦none¦\n¦ ¦é¦\u{1f600}¦\\¦'¦*x¦**x¦a=x";

/// Pieces from which most of the grammar can be assembled, and much that is invalid.
fn piece() -> impl Strategy<Value = String> {
    let words: Vec<&str> = PIECES.split('¦').collect();
    prop_oneof![
        9 => prop::sample::select(words).prop_map(ToOwned::to_owned),
        1 => any::<String>(),
    ]
}

/// Whole statements and expressions, so that many templates are filled and not only read.
fn template() -> impl Strategy<Value = String> {
    let expression = prop::collection::vec(piece(), 1..4).prop_map(|pieces| format!("{{{{ {} }}}}", pieces.concat()));
    let part = prop_oneof![expression, piece()];
    prop::collection::vec(part, 1..12).prop_map(|parts| parts.concat())
}

fn context() -> Value {
    Value::from(Serde(json!({"x": {"y": [1, "2", null, {"y": 1.5}]}, "a": "text"})))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_a_child_panic_and_its_faults_lie_within_it(template in template()) {
        let within = |diagnostic: &Diagnostic| diagnostic
            .place
            .as_ref()
            .is_none_or(|place| place.line <= template.matches('\n').count() + 1);
        let lenient = language::render(template.as_str(), context(), Undefined::Warn);
        let strict = language::render(template.as_str(), context(), Undefined::Refuse);
        if let Err(diagnostic) = &lenient {
            prop_assert!(within(diagnostic), "{diagnostic:?}");
        }
        // Watching a template for undefined names, which an undefined name before it triggers, changes nothing.
        if let Ok(strict) = &strict {
            let watched = format!("{{{{ nowhere }}}}{template}");
            let watched = language::render(watched.as_str(), context(), Undefined::Warn);
            prop_assert_eq!(watched.as_ref().map(|watched| &watched.text), Ok(&strict.text));
        }
        if language::check(&template).is_ok() {
            prop_assert!(analysis::schema(template.as_str()).is_ok());
            prop_assert!(analysis::unused(template.as_str(), &context()).is_ok());
            // Watching cannot make a template invalid.
            let kind = lenient.err().map(|diagnostic| diagnostic.kind);
            prop_assert!(kind != Some(platen_template::diagnostic::DiagnosticKind::Syntax), "{:?}", kind);
        }
    }
}
