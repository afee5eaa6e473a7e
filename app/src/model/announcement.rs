//! Announcements of operators in the dashboard.

/// Severity of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For information.
    Information,
    /// A disruption or a change in behavior.
    Warning,
}

impl Level {
    pub const ALL: [Self; 2] = [Self::Information, Self::Warning];

    /// Returns the value in the database and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Information => "information",
            Self::Warning => "warning",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// An announcement that is shown now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub id: String,
    pub level: Level,
    /// Plain text.
    pub words: String,
    /// Address and text of a link.
    pub link: Option<(String, String)>,
}
