use std::collections::BTreeMap;

use minijinja::Value;
use serde_json::{Map, Value as Json};

use crate::{
    diagnostic::DiagnosticKind,
    language::{Undefined, render},
    sources::{Catalogue, Sources, Text},
};

fn filled(template: &str) -> String {
    filled_with(template, &[])
}

fn filled_with(template: &str, catalogues: &[Catalogue<'static>]) -> String {
    let sources = Sources::from(template).with_catalogues(catalogues.iter().cloned());
    match render(sources, Value::from(()), Undefined::Refuse) {
        Ok(rendered) => rendered.text,
        Err(diagnostic) => format!("FAULT: {diagnostic}"),
    }
}

/// Parses the catalogues of an example, of which the first one is chosen.
fn catalogues_in(translations: &str) -> Vec<Catalogue<'static>> {
    let translations: Map<String, Json> = serde_json::from_str(translations).unwrap();
    let catalogues = translations.into_iter().map(|(language, texts)| {
        let mut catalogue = Catalogue {
            language: language.into(),
            texts: BTreeMap::new(),
        };
        add_texts(&mut catalogue, "", texts);
        catalogue
    });
    catalogues.collect()
}

fn add_texts(catalogue: &mut Catalogue, key: &str, texts: Json) {
    let text = match texts {
        Json::String(text) => Text::Plain(text.into()),
        Json::Object(members) if !members.contains_key("other") => {
            for (name, texts) in members {
                let key = if key.is_empty() { name } else { format!("{key}.{name}") };
                add_texts(catalogue, &key, texts);
            }
            return;
        }
        forms => Text::Plural(serde_json::from_value(forms).unwrap()),
    };
    catalogue.texts.insert(key.to_owned().into(), text);
}

/// Replaces non-breaking and similar spaces by plain ones, as in the examples.
fn plain_spaces(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_whitespace() { ' ' } else { character })
        .filter(|character| !matches!(character, '\u{200e}' | '\u{200f}' | '\u{61c}'))
        .collect::<String>()
        .trim()
        .to_owned()
}

#[test]
fn every_example_in_the_description_is_true() {
    let description = concat!(include_str!("../../guide.md"), include_str!("../../filters.md"));
    let blocks = description.split("```").skip(1).step_by(2);
    let (mut catalogues, mut checked, mut wrong) = (Vec::new(), 0, Vec::new());
    for block in blocks {
        if let Some(translations) = block.strip_prefix("translations\n") {
            catalogues = catalogues_in(translations);
            continue;
        }
        let examples = block.strip_prefix("jinja\n").unwrap_or_default().lines();
        for (template, expected) in examples.filter_map(|line| line.split_once(" →")) {
            let actual = plain_spaces(&filled_with(template, &catalogues));
            let expected = plain_spaces(expected);
            if actual != expected {
                wrong.push(format!("{template}\n  is       {actual}\n  not      {expected}"));
            }
            checked += 1;
        }
        catalogues.clear();
    }
    assert!(checked > 40, "only {checked} examples found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recipe_in_the_guide_is_true() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let blocks: Vec<_> = include_str!("../../guide.md").split("```").skip(1).step_by(2).collect();
    let partials = blocks
        .iter()
        .filter_map(|block| block.strip_prefix("partial ")?.split_once('\n'));
    let partials: BTreeMap<_, _> = partials.map(|(handle, text)| (handle.into(), text.into())).collect();
    let mut checked = 0;
    for (index, block) in blocks.iter().enumerate() {
        let Some(template) = block
            .strip_prefix("jinja\n")
            .filter(|template| !template.contains(" →"))
        else {
            continue;
        };
        let following = |distance: usize, kind| blocks.get(index + distance)?.strip_prefix(kind);
        let data = following(1, "json\n").unwrap_or("{}");
        let data: Value = serde_json::from_str(data).unwrap();
        let sources = Sources {
            template: template.into(),
            partials: partials.clone(),
            catalogues: Vec::new(),
        };
        let rendered = render(sources, data, Undefined::Warn).unwrap();
        if let Some(output) = following(2, "html\n") {
            assert_eq!(words(&rendered.text), words(output));
            checked += 1;
        }
    }
    assert_eq!(checked, 2);
}

#[test]
fn a_variable_sets_locale_and_time_zone_for_all_filters() {
    let template = "{% set locale = 'de_DE' %}{% set time_zone = 'Europe/Berlin' %}\
                    {{ 1.5|number }} {{ '2026-11-21T23:30:00Z'|date('short') }} {{ 1.5|number(locale='en') }}";
    assert_eq!(filled(template), "1,5 22.11.26 1.5");
    let within_macro = "{% set locale = 'de' %}{% macro m(n) %}{{ n|number(locale=locale) }}{% endmacro %}{{ m(1.5) }}";
    assert_eq!(filled(within_macro), "1,5");
}

#[test]
fn what_a_filter_cannot_use_is_a_fault_that_says_what_it_can() {
    for (template, expected) in [
        ("{{ 'many'|number }}", "\"many\" is not a number"),
        ("{{ true|number }}", "bool is not a number"),
        ("{{ 1|number(21) }}", "digits must be 0 to 20, not 21"),
        ("{{ 1|number(locale='?') }}", "\"?\" is not a locale such as de-DE"),
        ("{{ 1|number(lokale='de') }}", "lokale"),
        ("{{ 1|currency('EURO') }}", "\"EURO\" is not a currency such as EUR"),
        ("{{ 1|plural(one='x') }}", "plural needs the argument other"),
        ("{{ 'soon'|date }}", "\"soon\" is not a date"),
        (
            "{{ 0|date(time_zone='Europe/Atlantis') }}",
            "is not a time zone such as Europe/Berlin",
        ),
        ("{{ 0|date(\"'open\") }}", "the format must be short"),
        ("{{ 1e300|date }}", "seconds since 1970"),
        ("{{ '4006381333932'|barcode('ean13') }}", "the right check digit"),
        ("{{ 'Grüße'|barcode('code128') }}", "printable ASCII"),
        ("{{ 'x'|qrcode(size='30mm\" onload=\"x') }}", "is not a length"),
        ("{{ ('x' * 5000)|qrcode }}", "cannot be encoded as a QR code"),
        (
            "{{ ('x' * 5000)|barcode('datamatrix') }}",
            "cannot be encoded as a Data Matrix",
        ),
        ("{{ 'x'|barcode('aztec') }}", "not \"aztec\""),
    ] {
        let diagnostic = render(template, Value::from(()), Undefined::Refuse).err();
        let message = diagnostic
            .as_ref()
            .map_or_else(String::new, |diagnostic| diagnostic.message.clone());
        assert!(message.contains(expected), "{template}: {message}");
        assert_eq!(
            diagnostic.map(|diagnostic| diagnostic.kind),
            Some(DiagnosticKind::Operation),
            "{template}"
        );
    }
}

#[test]
fn numbers_are_exact_however_they_are_written() {
    assert_eq!(
        filled("{{ 0.1 + 0.2 }}|{{ (0.1 + 0.2)|number }}").split('|').nth(1),
        Some("0.3")
    );
    assert_eq!(
        filled("{{ '12345678901234567890.12'|number(2) }}"),
        "12,345,678,901,234,567,890.12"
    );
    assert_eq!(filled("{{ 1e21|number }}"), "1,000,000,000,000,000,000,000");
    assert_eq!(filled("{{ 0.0000001|number(7) }}"), "0.0000001");
    assert_eq!(
        filled("{{ 1.005|currency('USD') }} {{ '1.005'|currency('USD') }}"),
        "$1.01 $1.01"
    );
}

#[test]
fn markdown_keeps_nothing_that_runs_or_loads_a_page() {
    let hostile = "<iframe src=x></iframe><a href='data:text/html,x' onclick=x>a</a><style>p{}</style>\
                   <img src='data:image/png;base64,AA' onerror=x><img src='data:text/html,x'><form></form>";
    let template = format!("{{{{ {hostile:?}|markdown }}}}");
    let html = filled(&template);
    for forbidden in ["iframe", "data:text", "onclick", "onerror", "style", "form"] {
        assert!(!html.contains(forbidden), "{forbidden} in {html}");
    }
    assert!(html.contains("data:image/png;base64,AA"), "{html}");
}

#[test]
fn codes_have_an_alternative_text() {
    for code in [
        "qrcode(",
        "barcode('code128', ",
        "barcode('ean13', ",
        "barcode('datamatrix', ",
    ] {
        let filter = |label: &str| filled(&format!("{{{{ '400638133393'|{code}{label}) }}}}"));
        let labelled = filter("label='Pay \"now\"'");
        assert!(labelled.contains(r#"aria-label="Pay &quot;now&quot;""#), "{labelled}");
        for empty in ["label=none", "label=' '"] {
            let plain = filter(empty);
            assert!(plain.contains(r#"aria-label="400638133393""#), "{empty}: {plain}");
        }
    }
}

#[test]
fn codes_are_the_ones_that_readers_read() {
    // The 95 modules of EAN-13 by its standard, and the QR code's finder in the upper left corner.
    let ean = filled("{{ '400638133393'|barcode('ean13') }}");
    assert!(ean.contains(r#"viewBox="0 0 117 1""#), "{ean}");
    assert!(ean.contains("M11 0h1v1h-1zM13 0h1v1h-1zM17 0h2v1h-2z"), "{ean}");
    let qr = filled("{{ 'PLATEN'|qrcode }}");
    assert!(
        qr.contains(r#"viewBox="0 0 29 29""#) && qr.contains("M4 4h7v1h-7z"),
        "{qr}"
    );
    let matrix = filled("{{ 'PLATEN'|barcode('datamatrix') }}");
    assert!(matrix.contains(r#"viewBox="0 0 14 14""#), "{matrix}");
    let digits = filled("{{ '12345678'|barcode('code128') }}");
    let letters = filled("{{ 'ABCDEFGH'|barcode('code128') }}");
    assert!(digits.len() < letters.len(), "digits are not encoded in pairs");
}
