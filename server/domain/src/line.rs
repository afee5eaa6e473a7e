//! Single-line user input.

/// Trims a text and collapses whitespace into single spaces. Returns `None` if the result is empty, has more than
/// `longest` characters, or contains control characters.
pub fn line(text: &str, longest: usize) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sound = (1..=longest).contains(&line.chars().count()) && !line.chars().any(char::is_control);
    sound.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_a_line() {
        assert_eq!(
            line(" On Sunday,\r\n  from 10 ", 20).as_deref(),
            Some("On Sunday, from 10")
        );
        assert_eq!(line("ä", 1).as_deref(), Some("ä"));
        for text in ["", " \n", "a\0b", "ab"] {
            assert_eq!(line(text, 1), None, "{text:?}");
        }
    }
}
