//! Capitalization.

/// Returns the text with its first letter in upper case.
pub fn sentence_case(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_is_a_capital_and_the_rest_stays() {
        for (words, expected) in [
            ("key created", "Key created"),
            ("über", "Über"),
            ("PDF", "PDF"),
            ("", ""),
        ] {
            assert_eq!(sentence_case(words), expected);
        }
    }
}
