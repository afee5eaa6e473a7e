//! Display names of users and accounts.

use std::str::FromStr;

const MAX_CHARACTERS: usize = 200;

/// A display name: one line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayName(String);

/// The text is blank, too long, or has several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to {MAX_CHARACTERS} characters on one line")]
pub struct InvalidName;

impl DisplayName {
    /// Returns the trimmed name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DisplayName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let text = text.trim();
        let sound = (1..=MAX_CHARACTERS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        sound.then(|| Self(text.to_owned())).ok_or(InvalidName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(
            " Ines Okafor ".parse().map(|name: DisplayName| name.0),
            Ok("Ines Okafor".into())
        );
        assert!("x".repeat(200).parse::<DisplayName>().is_ok());
        for text in ["", "  ", "a\nb", "a\r\nBcc: b", "a\0", &"x".repeat(201)] {
            assert_eq!(text.parse::<DisplayName>(), Err(InvalidName), "{text:?}");
        }
    }
}
