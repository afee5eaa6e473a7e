//! Patterns of paths: `invoices/{{ number }}.pdf`, filled from the data of a row.

use serde_json::Value;

use crate::batch::placeholders::{Piece, member, names, not_a_text, pieces};

/// Fills the placeholders of a pattern with members of `row`, a JSON object: `{{ number }}`, or `{{ customer.name }}` of a member
/// that is an object. Members are texts or numbers; slashes within them are replaced by hyphens, so that data makes no folders.
/// The error says which placeholder can't be filled, and why.
pub fn fill(pattern: &str, row: &Value) -> Result<String, String> {
    let mut filled = String::with_capacity(pattern.len());
    for piece in pieces(pattern) {
        match piece? {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(name) => filled.push_str(&value(row, name)?),
        }
    }
    Ok(filled)
}

/// Checks the placeholders of a pattern. The error says what is wrong.
pub fn check(pattern: &str) -> Result<(), String> {
    names(pattern).map(drop)
}

fn value(row: &Value, name: &str) -> Result<String, String> {
    let text = match member(row, name)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(not_a_text(name)),
    };
    if text.trim().is_empty() {
        return Err(format!("{{{{ {name} }}}} is empty in the row"));
    }
    Ok(text.replace('/', "-"))
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
