//! Email addresses with which users log in.

use std::str::FromStr;

/// The maximum that SMTP supports is 254 octets (RFC 5321, 4.5.3.1.3, less the angle brackets).
const MAX_LENGTH: usize = 254;

/// A plausible address in lower case, so that different spellings of a mailbox don't become different users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Email(String);

/// The text is not an email address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an email address: needs one @ with text on both sides, no spaces, at most {MAX_LENGTH} characters")]
pub struct InvalidEmail;

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Email {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Email {
    type Err = InvalidEmail;

    fn from_str(text: &str) -> Result<Self, InvalidEmail> {
        let (local, domain) = text.split_once('@').ok_or(InvalidEmail)?;
        let sound = text.len() <= MAX_LENGTH
            && !local.is_empty()
            && !domain.is_empty()
            && !domain.contains('@')
            && !text
                .chars()
                .any(|character| character.is_whitespace() || character.is_control());
        // Also refuses addresses that mail can't be sent to.
        if sound && text.parse::<lettre::Address>().is_ok() {
            Ok(Self(text.to_lowercase()))
        } else {
            Err(InvalidEmail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_mailbox_are_one() {
        assert_eq!("Ann@Example.ORG".parse::<Email>(), "ann@example.org".parse());
    }

    #[test]
    fn unusual_addresses_are_taken() {
        for text in [
            "owner@localhost",
            "a+b_c.d@sub.example.org",
            "zoë@example.org",
            "ann@exämple.org",
            "o'neill@example.org",
        ] {
            assert!(text.parse::<Email>().is_ok(), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "ann",
            "@b",
            "a@",
            "a@b@c",
            "a b@c",
            "a@b\n",
            "a..b@c",
            "a,b@c",
            "ann@example.org>",
            "<ann@example.org>",
            "ann@-.example",
            &format!("{}@b", "a".repeat(253)),
        ] {
            assert_eq!(text.parse::<Email>(), Err(InvalidEmail), "{text}");
        }
    }
}
