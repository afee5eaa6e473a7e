//! Patterns of paths: `invoices/{{ number }}.pdf`, filled from the data of a row.

use serde_json::Value;

use crate::validation::quote;

/// Maximum length of a placeholder between its braces, in bytes.
const LONGEST_PLACEHOLDER: usize = 200;

/// Fills the placeholders of a pattern with members of `row`, a JSON object: `{{ number }}`, or `{{ customer.name }}` of a member
/// that is an object. Members are texts or numbers; slashes within them are replaced by hyphens, so that data makes no folders.
/// The error says which placeholder can't be filled, and why.
pub fn fill(pattern: &str, row: &Value) -> Result<String, String> {
    let mut filled = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, from)) = rest.split_once("{{") {
        let (name, after) = placeholder(from)?;
        filled.push_str(before);
        filled.push_str(&value(row, name)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Checks the placeholders of a pattern. The error says what is wrong.
pub fn check(pattern: &str) -> Result<(), String> {
    let mut rest = pattern;
    while let Some((_, from)) = rest.split_once("{{") {
        rest = placeholder(from)?.1;
    }
    Ok(())
}

/// Returns the name in a placeholder, and the text after it.
fn placeholder(from: &str) -> Result<(&str, &str), String> {
    let (name, after) = from
        .split_once("}}")
        .ok_or_else(|| "A placeholder begins with {{ and must end with }}".to_owned())?;
    let name = name.trim();
    let is_member =
        |step: &str| !step.is_empty() && !step.contains(|c: char| c.is_whitespace() || "{}|()[]".contains(c));
    if name.len() <= LONGEST_PLACEHOLDER && name.split('.').all(is_member) {
        Ok((name, after))
    } else {
        Err(format!(
            "A placeholder is the name of a member of the rows, as in {{{{ number }}}} or {{{{ customer.name }}}}; got {}",
            quote(name)
        ))
    }
}

fn value(row: &Value, name: &str) -> Result<String, String> {
    let member = name.split('.').try_fold(row, |object, step| object.get(step));
    let text = match member {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(format!("{{{{ {name} }}}} must be a text or a number in the row")),
        None => return Err(format!("The row has no member {}", quote(name))),
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

    #[test]
    fn patterns_are_no_templates() {
        for pattern in [
            "{{ number",
            "{{}}",
            "{{ a | upper }}",
            "{{ a[0] }}",
            "{{ a..b }}",
            "{{ a b }}",
        ] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }
}
