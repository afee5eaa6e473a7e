//! Announcements of operators in the dashboard.

use platen_domain::announcement::Level;

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
