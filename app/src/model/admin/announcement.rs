//! Announcements, as operators manage them.

use time::OffsetDateTime;

use crate::model::announcement::Announcement;

/// The form that creates an announcement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnouncementForm {
    pub words: String,
    /// Address of a linked page. Empty: no link.
    pub link: String,
    /// Text of the link.
    pub link_words: String,
    /// The form value of a [`Level`](crate::model::announcement::Level).
    pub level: String,
    /// Start, in UTC. Empty: now.
    pub starts_at: String,
    /// End, in UTC. Empty: shown until it is ended.
    pub ends_at: String,
}

/// Whether an announcement is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Current,
    /// Scheduled.
    Coming,
    /// Ended.
    Past,
}

/// An announcement with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAnnouncement {
    pub announcement: Announcement,
    pub turn: Turn,
    pub starts_at: OffsetDateTime,
    /// `None`: shown until it is ended.
    pub ends_at: Option<OffsetDateTime>,
    /// Number of users who have hidden it.
    pub hidden_by: i64,
}
