//! Placeholders of patterns, `{{ number }}`, which the data of a row fills.

use serde_json::{Number, Value};

use crate::validation::quote;

/// Maximum length of a placeholder between its braces, in bytes.
const LONGEST: usize = 200;

/// From this number on, which is 2 to the power of 53, not every integer is a floating-point number (IEEE 754, binary64).
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// A piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The name of a member: `number`, or `customer.name` of a member that is an object.
    Placeholder(&'a str),
}

/// Returns the pieces of a pattern in order. The last one is an error, which says what is wrong, if a placeholder is malformed.
fn pieces(pattern: &str) -> impl Iterator<Item = Result<Piece<'_>, String>> {
    let mut rest = Some(pattern);
    let mut is_placeholder = false;
    std::iter::from_fn(move || {
        let text = rest.take()?;
        if is_placeholder {
            is_placeholder = false;
            return Some(placeholder(text).map(|(name, after)| {
                rest = Some(after);
                Piece::Placeholder(name)
            }));
        }
        let (before, from) = text
            .split_once("{{")
            .map_or((text, None), |(before, from)| (before, Some(from)));
        (rest, is_placeholder) = (from, from.is_some());
        Some(Ok(Piece::Text(before)))
    })
}

/// Returns the names of the placeholders in a pattern; or what is wrong with one.
pub(super) fn names(pattern: &str) -> Result<Vec<&str>, String> {
    let names = pieces(pattern).filter_map(|piece| match piece {
        Ok(Piece::Placeholder(name)) => Some(Ok(name)),
        Ok(Piece::Text(_)) => None,
        Err(reason) => Some(Err(reason)),
    });
    names.collect()
}

/// Returns the member of a row, a JSON object, that a placeholder names.
pub(super) fn member<'a>(row: &'a Value, name: &str) -> Result<&'a Value, String> {
    let member = name.split('.').try_fold(row, |object, step| object.get(step));
    member.ok_or_else(|| format!("The row has no member {}", quote(name)))
}

/// Fills the placeholders of a pattern with what `text` returns for their names. Returns `Ok(None)` if the result has more than `most`
/// bytes.
pub(super) fn filled(
    pattern: &str,
    most: usize,
    text: impl Fn(&str) -> Result<String, String>,
) -> Result<Option<String>, String> {
    let mut filled = String::with_capacity(pattern.len());
    for piece in pieces(pattern) {
        match piece? {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(name) => filled.push_str(&text(name)?),
        }
        if filled.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(filled))
}

/// Returns the text or number of a member, which must not be empty.
pub(super) fn required_text(row: &Value, name: &str) -> Result<String, String> {
    let text = match member(row, name)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number, name)?,
        _ => return Err(not_a_text(name)),
    };
    if text.trim().is_empty() {
        return Err(format!("{{{{ {name} }}}} is empty in the row"));
    }
    Ok(text)
}

/// Returns a number as JSON writes it. Fails if it may have lost digits when it was read.
pub(super) fn number_text(number: &Number, name: &str) -> Result<String, String> {
    if number
        .as_f64()
        .filter(|_| number.is_f64())
        .is_some_and(|number| number.abs() >= FIRST_INEXACT)
    {
        return Err(format!(
            "{{{{ {name} }}}} has too many digits for a number; send it as a text"
        ));
    }
    Ok(number.to_string())
}

/// Returns the error for a member that is an object or a list, or another value that can't be written there.
pub(super) fn not_a_text(name: &str) -> String {
    format!("{{{{ {name} }}}} must be a text or a number in the row")
}

/// Returns the name in a placeholder, and the text after it.
fn placeholder(from: &str) -> Result<(&str, &str), String> {
    let (name, after) = from
        .split_once("}}")
        .ok_or_else(|| "A placeholder begins with {{ and must end with }}".to_owned())?;
    let name = name.trim();
    let is_foreign = |c: char| c.is_whitespace() || c.is_control() || "{}|()[]".contains(c);
    let is_member = |step: &str| !step.is_empty() && !step.contains(is_foreign);
    if name.len() <= LONGEST && name.split('.').all(is_member) {
        Ok((name, after))
    } else {
        Err(format!(
            "A placeholder is the name of a member of the rows, as in {{{{ number }}}} or {{{{ customer.name }}}}; got {}",
            quote(name)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_consists_of_texts_and_placeholders() {
        use Piece::{Placeholder, Text};
        for (pattern, expected) in [
            ("", &[Text("")][..]),
            ("a}}", &[Text("a}}")]),
            ("{{ a.b }}", &[Text(""), Placeholder("a.b"), Text("")]),
            (
                "x{{a}}{{b}}",
                &[Text("x"), Placeholder("a"), Text(""), Placeholder("b"), Text("")],
            ),
        ] {
            let found: Result<Vec<_>, _> = pieces(pattern).collect();
            assert_eq!(found.as_deref(), Ok(expected));
        }
        assert_eq!(names("x{{a}}{{ b }}"), Ok(vec!["a", "b"]));
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
            "{{ a\u{0}b }}",
            "{{ a\u{7f} }}",
        ] {
            assert!(names(pattern).is_err(), "{pattern}");
        }
    }
}
