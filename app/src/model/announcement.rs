//! What operators tell everybody who works in the dashboard.

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is good to know.
    Information,
    /// Something will not be as usual.
    Warning,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Information, Self::Warning];

    /// The word for it, in the database and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Information => "information",
            Self::Warning => "warning",
        }
    }

    /// Reads [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// Something that is told now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// Identifier.
    pub id: String,
    /// How much it matters.
    pub level: Level,
    /// Plain text.
    pub words: String,
    /// Where there is more to read: an address of the web, and what the link says.
    pub link: Option<(String, String)>,
}
