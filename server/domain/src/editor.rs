//! What the template editor in the browser learns from the server.

use std::{error, fmt};

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

/// Name of the first set of sample data: the preview context, which is saved with each version.
pub const DEFAULT_SET: &str = "Default";
/// Maximum number of sets of sample data of a template, with the first one.
pub const MOST_SETS: usize = 20;
/// Maximum length of the name of a set, in characters.
pub const LONGEST_SET_NAME: usize = 64;
/// Maximum size of all sets but the first one together, as JSON without whitespace, in bytes.
pub const MOST_SET_BYTES: usize = 1 << 20;

/// A set of sample data, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleSet {
    pub name: String,
    /// JSON, which may be invalid.
    pub data: String,
}

/// Why sets of sample data can't be saved. `number` is the position of a set, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleSetProblem {
    /// The list of sets can't be read.
    Unreadable,
    /// There are more than [`MOST_SETS`].
    TooMany,
    /// The sets exceed [`MOST_SET_BYTES`].
    TooLarge,
    /// The name is empty, too long or reserved.
    Name { number: usize },
    /// An earlier set has the same name.
    NameTaken { number: usize },
    /// The data is no object, or too large.
    Data { number: usize },
    /// The set was renamed or deleted since the page was loaded.
    Gone,
}

impl SampleSetProblem {
    /// Returns the number of the set that it is about.
    pub fn number(self) -> Option<usize> {
        match self {
            Self::Name { number } | Self::NameTaken { number } | Self::Data { number } => Some(number),
            Self::Unreadable | Self::TooMany | Self::TooLarge | Self::Gone => None,
        }
    }

    /// Returns the text for users, with the name of the set where it is known.
    pub fn sentence(self, name: Option<&str>) -> String {
        let set = match (name, self.number()) {
            (Some(name), _) => format!("The set “{name}” of the sample data"),
            (None, Some(number)) => format!("Set {number} of the sample data"),
            (None, None) => String::new(),
        };
        match self {
            Self::Unreadable => "The sets of sample data can’t be read. Reload the page.".to_owned(),
            Self::TooMany => format!("A template has at most {MOST_SETS} sets of sample data. Delete some."),
            Self::TooLarge => {
                "The sets of sample data other than “Default” have more than 1 MiB together. Shorten or delete some."
                    .to_owned()
            }
            Self::Name { .. } => {
                format!("{set} needs a name of 1 to {LONGEST_SET_NAME} characters other than “{DEFAULT_SET}”.")
            }
            Self::NameTaken { .. } => format!("{set} has the name of another set. Rename one of them."),
            Self::Data { .. } => format!("{set} must be a JSON object of at most 256 KiB."),
            Self::Gone => "This set of sample data no longer exists. Choose another one.".to_owned(),
        }
    }
}

impl fmt::Display for SampleSetProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence(None))
    }
}

impl error::Error for SampleSetProblem {}

/// What publishing the editor's content would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpublishedChanges {
    /// Number of the published version, with which the content is compared.
    pub published: i32,
    /// Changes of the HTML.
    pub html: Diff,
    /// Changes of the translations.
    pub translations: Diff,
}

/// A remark about a template or its data, for the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The name or expression it is about, as the author wrote it.
    pub subject: Option<String>,
    pub message: String,
    /// Whether it is about an undefined name, which was rendered as empty.
    pub undefined: bool,
    /// Whether a font is missing, or lacks a character.
    pub lacks_font: bool,
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
            lacks_font: false,
            place,
        }
    }

    /// Returns the subject, if any, and the message as one text, without the location.
    pub fn text(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{subject} {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// A violation of PDF/A-2a or PDF/UA-1, or a text with low contrast, in a previewed document, for the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The element with its text, if known: `H3 “Costs”`.
    pub subject: Option<String>,
    /// What to change in the template, as a sentence.
    pub remedy: String,
    /// Page of the document, from 1, if known.
    pub page: Option<usize>,
    /// Left, bottom, right and top of its place on the page, if known, in points from the lower left corner.
    pub rectangle: Option<[i32; 4]>,
}

/// A location in one of the editors.
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

/// An editor of the page of a template. The names are those of the form fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Pane {
    /// The source of the template.
    Content,
    /// The sample data.
    Data,
    Translations,
}
