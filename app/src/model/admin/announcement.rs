//! Announcements, as operators make them.

use time::OffsetDateTime;

use crate::model::announcement::Announcement;

/// What an operator types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnouncementForm {
    /// What is told.
    pub words: String,
    /// Where there is more to read; empty: nowhere.
    pub link: String,
    /// What the link says.
    pub link_words: String,
    /// A word for how much it matters.
    pub level: String,
    /// From when on, in UTC; empty: from now on.
    pub starts_at: String,
    /// Until when, in UTC; empty: until somebody ends it.
    pub ends_at: String,
}

/// When one is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Now.
    Current,
    /// Later.
    Coming,
    /// It was.
    Past,
}

/// One with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAnnouncement {
    /// What is told.
    pub announcement: Announcement,
    /// See [`Turn`].
    pub turn: Turn,
    /// From then on.
    pub starts_at: OffsetDateTime,
    /// Until then; `None`: until somebody ends it.
    pub ends_at: Option<OffsetDateTime>,
    /// How many people do not want to see it any more.
    pub hidden_by: i64,
}
