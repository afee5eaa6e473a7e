//! Announcements, as operators manage them.

use time::OffsetDateTime;

use crate::model::announcement::Announcement;

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
