//! Tags: words by which the assets of an account are found.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::validation::quote;

/// Maximum number of tags of an asset.
const MOST_TAGS: usize = 10;
/// Maximum length of a tag in characters.
const LONGEST_TAG: usize = 40;

/// Returns a tag without spaces around it, composed (Unicode Normalization Form C). The error says what is allowed.
pub fn tag(text: &str) -> Result<String, String> {
    let tag: String = text.trim().nfc().collect();
    let is_allowed = |c: char| !c.is_control() && c != ',';
    if tag.is_empty() || tag.chars().nth(LONGEST_TAG).is_some() || !tag.chars().all(is_allowed) {
        return Err(format!(
            "Tags have 1 to {LONGEST_TAG} characters, without commas and line breaks; got {}",
            quote(&tag)
        ));
    }
    Ok(tag)
}

/// Returns tags without spaces around them, each once, in alphabetical order. The error says what is allowed.
fn checked<'a>(tags: impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let mut checked = tags.map(tag).collect::<Result<Vec<_>, _>>()?;
    checked.sort_unstable();
    checked.dedup();
    if checked.len() > MOST_TAGS {
        return Err(format!("Assets have at most {MOST_TAGS} tags; got {}", checked.len()));
    }
    Ok(checked)
}

/// Returns the tags of a JSON array, which the schema has accepted. The error says what is allowed.
pub(super) fn of_array(tags: &Value) -> Result<Vec<String>, String> {
    checked(tags.as_array().into_iter().flatten().filter_map(Value::as_str))
}

/// Returns the tags of a text with commas between them. The error says what is allowed.
pub fn of_text(text: &str) -> Result<Vec<String>, String> {
    checked(text.split(',').filter(|tag| !tag.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_between_commas() {
        assert_eq!(
            of_text(" logo, brand 2026 ,,logo"),
            Ok(vec!["brand 2026".to_owned(), "logo".to_owned()])
        );
        assert_eq!(of_text(" , "), Ok(Vec::new()));
        let most = (0..MOST_TAGS)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join(",");
        assert_eq!(of_text(&most).map(|tags| tags.len()), Ok(MOST_TAGS));
        assert_eq!(
            of_text(&format!("{most},more")).unwrap_err(),
            "Assets have at most 10 tags; got 11"
        );
        for tag in ["a\nb".to_owned(), "ä".repeat(LONGEST_TAG + 1)] {
            let problem = of_text(&tag).unwrap_err();
            assert!(problem.starts_with("Tags have 1 to 40 characters"), "{problem}");
        }
    }
}
