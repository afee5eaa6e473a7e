//! The stored content of a render's request.

use strum::{EnumString, IntoStaticStr};

/// Maximum size of a request that the playground opens, in bytes.
pub const MOST_REPLAYED: usize = 1 << 20;

/// Why the request of a synchronous render was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Omission {
    /// Too many requests were waiting to be stored.
    Busy,
    /// The account's storage was full.
    StorageFull,
}

/// Why a request can't be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingContent {
    /// The account doesn't store content.
    NotWanted,
    /// The render is synchronous, and has not ended or ended just now.
    NotYet,
    Omitted(Omission),
    /// It was deleted, or left out without a reason on record.
    Gone,
    /// Operators don't see content.
    Hidden,
    /// It has more than [`MOST_REPLAYED`] bytes.
    TooLarge,
    /// It can't be decrypted or parsed.
    Unreadable,
}

impl MissingContent {
    /// A sentence for the account's members.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotWanted => "Content wasn't stored: this account doesn't store the content of requests.",
            Self::NotYet => "The content is stored shortly after the render has ended. Reload this page to see it.",
            Self::Omitted(Omission::Busy) => "Content wasn't stored: too many requests arrived at the same time.",
            Self::Omitted(Omission::StorageFull) => "Content wasn't stored: the account had no room for content.",
            Self::Gone => {
                "Content isn't stored: it has expired, or the account had no room for it. Test renders keep it for 24 hours, \
                 others for your plan's retention."
            }
            Self::Hidden => "Content is visible only to the account's members.",
            Self::TooLarge => {
                "The request has more than 1 MB, so the playground can't open it. Send it through the API."
            }
            Self::Unreadable => "The stored content can't be read. Send the request again to view it.",
        }
    }
}

/// The request of a render, as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRequest {
    pub parts: Vec<ShownPart>,
    /// The whole request as JSON. `None` if it is too large for a page.
    pub json: Option<String>,
    /// Size of the request as JSON, in bytes.
    pub bytes: usize,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPart {
    pub kind: PartKind,
    /// The HTML, the URL, or a template's data: its beginning.
    pub text: String,
    /// Size of the whole text, in bytes.
    pub bytes: usize,
}

/// Kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    Html,
    Url,
    Template,
}

impl ShownRequest {
    /// Returns whether the playground opens it.
    pub fn can_be_replayed(&self) -> bool {
        self.bytes <= MOST_REPLAYED
    }
}
