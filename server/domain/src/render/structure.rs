//! Structure of documents: their elements in reading order, as assistive technology reads them.

use serde::{Deserialize, Serialize};

/// What the page of the structure of a render's document shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderStructure {
    /// Address from which the document can be downloaded, while it exists.
    pub url: Option<String>,
    /// The structure, or why it can't be shown.
    pub structure: Result<DocumentStructure, MissingStructure>,
}

/// The structure elements of a document in reading order, each before its children.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentStructure {
    /// At most 2,000; empty if the document isn't tagged.
    pub elements: Vec<StructureElement>,
    /// Whether there are more elements than listed.
    pub is_cut: bool,
}

/// A structure element. Texts have at most 60 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructureElement {
    /// Number of elements around it.
    pub depth: usize,
    /// Type as written, such as `H1`.
    pub kind: String,
    /// Page of its own content, from 1. Elements that only contain others may have none.
    pub page: Option<usize>,
    /// Title.
    pub title: Option<String>,
    /// Language tag.
    pub language: Option<String>,
    /// Alternative text.
    pub alternative: Option<String>,
    /// Text that replaces the content.
    pub actual_text: Option<String>,
    /// First words of its own content.
    pub text: Option<String>,
}

/// Why the structure of a render's document can't be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingStructure {
    /// The render has no document, or none yet.
    NoDocument,
    /// The document was returned in the response to a synchronous request.
    Returned,
    /// The document is in a bucket.
    InBucket,
    /// The document was deleted, or the account doesn't store content.
    Gone,
    /// The document exceeds the limits of reading.
    TooLarge,
    /// Operators don't see content.
    Hidden,
    /// The document can't be read.
    Unreadable,
}

impl MissingStructure {
    /// Sentences for the account's members.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoDocument => "The render has no document.",
            Self::Returned => {
                "The document was returned in the response to the request, and is not stored. Asynchronous renders store \
                 their documents."
            }
            Self::InBucket => {
                "The document is in a bucket. Only documents on Platen's own disk are read for this page."
            }
            Self::Gone => {
                "The document is no longer stored, is older than your plan's retention, or this account doesn't store content."
            }
            Self::TooLarge => "The document is too large or too complex to be read for this page.",
            Self::Hidden => "The structure is visible only to the account's members.",
            Self::Unreadable => "The stored document can't be read. Send the request again for a new one.",
        }
    }

    /// Returns whether members may have the document, from which they can read the structure themselves.
    pub fn may_be_inspected(self) -> bool {
        matches!(self, Self::Returned | Self::InBucket | Self::Gone | Self::TooLarge)
    }
}
