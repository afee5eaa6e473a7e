//! Patterns of paths: `invoices/{{ number }}.pdf`, filled from the data of a row.

use serde_json::Value;

use crate::batch::placeholders::{filled, names, required_text};

/// Fills the placeholders of a pattern with members of `row`, a JSON object: `{{ number }}`, or `{{ customer.name }}` of a member
/// that is an object. Members are texts or numbers; slashes within them are replaced by hyphens, so that data makes no folders.
/// The error says which placeholder can't be filled, and why.
pub fn fill(pattern: &str, row: &Value) -> Result<String, String> {
    let filled = filled(pattern, usize::MAX, |name| {
        Ok(required_text(row, name)?.replace('/', "-"))
    })?;
    Ok(filled.unwrap_or_default())
}

/// Checks the placeholders of a pattern. The error says what is wrong.
pub fn check(pattern: &str) -> Result<(), String> {
    names(pattern).map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_are_filled_with_texts_and_numbers() {
        let row = json!({"number": 17, "customer": {"name": "Ann/Bob"}, "year": "2026"});
        for (pattern, path) in [
            ("a.pdf", "a.pdf"),
            ("{{year}}/{{ number }}.pdf", "2026/17.pdf"),
            ("{{ customer.name }}", "Ann-Bob"),
            ("}}{{ year }}}", "}}2026}"),
        ] {
            assert_eq!(fill(pattern, &row).as_deref(), Ok(path));
            assert_eq!(check(pattern), Ok(()));
        }
    }

    #[test]
    fn numbers_that_lost_digits_are_refused() {
        let row: Value =
            serde_json::from_str(r#"{"a": 20261100000000000001234, "b": 18446744073709551615, "c": 1.5}"#).unwrap();
        assert!(fill("{{ a }}", &row).unwrap_err().contains("send it as a text"));
        assert_eq!(fill("{{ b }} {{ c }}", &row).as_deref(), Ok("18446744073709551615 1.5"));
    }

    #[test]
    fn rows_without_the_data_are_named_with_it() {
        let row = json!({"none": null, "blank": " ", "list": [1], "text": "x"});
        for (pattern, word) in [
            ("{{ number }}", "\"number\""),
            ("{{ none }}", "none"),
            ("{{ blank }}", "empty"),
            ("{{ list.0 }}", "list.0"),
            ("{{ text.length }}", "text.length"),
        ] {
            let error = fill(pattern, &row).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
