//! What the template editor in the browser learns from the server.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::diff::Diff;

/// Maximum length of a note on a version, in characters.
pub const LONGEST_NOTE: usize = 500;

/// The result of saving a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTemplate {
    /// Number of the saved version, or of the newest one if its content is the same.
    pub version: i32,
    /// Number of the published version, which renders use.
    pub published: i32,
}

/// What publishing the editor's content would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpublishedChanges {
    /// Number of the published version, with which the content is compared.
    pub published: i32,
    /// Changes of the HTML.
    pub html: Diff,
}

/// A remark about a template or its data, for the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The name or expression it is about, as the author wrote it.
    pub subject: Option<String>,
    pub message: String,
    /// Whether it is about an undefined name, which was rendered as empty.
    pub undefined: bool,
    /// Its location, if known.
    pub place: Option<Place>,
}

impl Remark {
    /// Creates a remark that isn't about an undefined name.
    pub fn new(subject: impl Into<Option<String>>, message: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            subject: subject.into(),
            message: message.into(),
            undefined: false,
            place,
        }
    }
}

/// A location in one of the two panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub pane: Pane,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// In characters.
    pub length: usize,
}

/// A pane of the template editor. The names are those of the form fields, and labels on small screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Pane {
    /// The source of the template.
    Content,
    /// The sample data.
    Data,
}
