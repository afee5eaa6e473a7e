//! Kind and handle of a template: what it is for, and what other templates call it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::validation::{Problem, quote};

/// JSON pointer of the kind.
pub const KIND: &str = "/template/kind";
/// JSON pointer of the handle.
pub const HANDLE: &str = "/template/handle";
/// Maximum length of a handle, in characters.
const LONGEST_HANDLE: usize = 64;

/// What a template is for. The names are used in the API, in forms and in the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum TemplateKind {
    /// It is rendered.
    #[default]
    Document,
    /// Other templates include, extend or import it.
    Partial,
}

impl TemplateKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_document(&self) -> bool {
        *self == Self::Document
    }
}

/// What other templates call a partial: 1 to 64 of the letters a to z, digits and hyphens. Unique among the templates of
/// an account that aren't deleted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Handle(String);

impl Handle {
    /// Returns `None` for an invalid handle.
    pub fn parse(text: &str) -> Option<Self> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_valid = (1..=LONGEST_HANDLE).contains(&text.len()) && text.bytes().all(is_allowed);
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the handle of a copy. `ending` makes it unique and has at most 16 characters.
    pub fn of_copy(&self, ending: &str) -> Option<Self> {
        let kept: String = self.0.chars().take(LONGEST_HANDLE - 1 - ending.len()).collect();
        Self::parse(&format!("{kept}-{ending}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for Handle {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("it has 1 to 64 of the letters a to z, digits and hyphens")
    }
}

/// Kind and handle of a template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateIdentity {
    #[serde(default, skip_serializing_if = "TemplateKind::is_document")]
    pub kind: TemplateKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
}

impl TemplateIdentity {
    /// Returns the validation error of a partial without a handle.
    pub fn problem(&self) -> Option<Problem> {
        (self.kind == TemplateKind::Partial && self.handle.is_none()).then(|| {
            let detail = "A partial needs a handle, by which other templates use it: 1 to 64 of the letters a to z, \
                          digits and hyphens; got none";
            Problem::invalid(HANDLE, detail)
        })
    }

    /// Returns the validation error for a handle that another template has.
    pub fn taken(&self) -> Problem {
        let handle = self.handle.as_ref().map(Handle::as_str).unwrap_or_default();
        let detail = format!(
            "Must be unique among the templates of the account; another one has {}",
            quote(handle)
        );
        Problem::invalid(HANDLE, detail)
    }
}

/// Changes of kind and handle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct IdentityChanges {
    #[serde(default)]
    kind: Option<TemplateKind>,
    #[serde(default)]
    handle: HandleChange,
}

/// A change of the handle. In JSON, null removes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum HandleChange {
    #[default]
    Unchanged,
    Changed(Option<Handle>),
}

impl<'de> Deserialize<'de> for HandleChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Changed)
    }
}

impl IdentityChanges {
    pub fn applied_to(self, identity: TemplateIdentity) -> TemplateIdentity {
        TemplateIdentity {
            kind: self.kind.unwrap_or(identity.kind),
            handle: match self.handle {
                HandleChange::Unchanged => identity.handle,
                HandleChange::Changed(handle) => handle,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_short_and_plain() {
        for valid in ["a", "letterhead-2", "-", &"9".repeat(64)] {
            assert!(Handle::parse(valid).is_some(), "{valid}");
        }
        for invalid in ["", "A", "a_b", "a b", "ä", "a\n", &"9".repeat(65)] {
            assert!(Handle::parse(invalid).is_none(), "{invalid}");
        }
    }

    #[test]
    fn copies_have_a_handle_of_their_own() {
        let copy = |handle: &str| Handle::parse(handle).and_then(|handle| handle.of_copy("1f6a2c7d"));
        assert_eq!(copy("footer").as_ref().map(Handle::as_str), Some("footer-1f6a2c7d"));
        assert_eq!(copy(&"a".repeat(64)).map(|handle| handle.as_str().len()), Some(64));
    }

    #[test]
    fn changes_leave_what_they_omit() {
        let identity = || TemplateIdentity {
            kind: TemplateKind::Partial,
            handle: Handle::parse("a"),
        };
        let changed = |changes: &str| {
            let changes: IdentityChanges = serde_json::from_str(changes).expect("changes");
            changes.applied_to(identity())
        };
        assert_eq!(changed("{}"), identity());
        assert_eq!(changed(r#"{"handle": "b"}"#).handle, Handle::parse("b"));
        let removed = changed(r#"{"handle": null, "kind": "document"}"#);
        assert_eq!(removed, TemplateIdentity::default());
        assert_eq!(removed.problem(), None);
        assert_eq!(
            changed(r#"{"handle": null}"#).problem().map(|problem| problem.pointer),
            Some(HANDLE.to_owned())
        );
    }
}
