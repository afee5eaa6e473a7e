//! Server functions of the page of announcements. All are for operators only.

use leptos::prelude::*;
use platen_domain::{announcement::AnnouncementForm, ids::AnnouncementId};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
};

/// Publishes an announcement on every dashboard.
#[server(prefix = "/web", endpoint = "announce")]
pub async fn announce(
    /// Text of the announcement.
    words: String,
    /// Address of a page with more information. May be empty.
    link: String,
    /// Text of the link. May be empty.
    link_words: String,
    /// A value of `Level`.
    level: String,
    /// Start, in UTC. Empty: now.
    starts_at: String,
    /// End, in UTC. Empty: no end.
    ends_at: String,
) -> Result<(), AppError> {
    let form = AnnouncementForm {
        words,
        link,
        link_words,
        level,
        starts_at,
        ends_at,
    };
    backend().announce(form).await?;
    leave_for("/admin/announcements?done=announced")
}

/// Ends a current announcement, or cancels one that hasn't started.
#[server(prefix = "/web", endpoint = "end-announcement")]
pub async fn end_announcement(
    /// Id of the announcement.
    subject: AnnouncementId,
) -> Result<(), AppError> {
    backend().end_announcement(subject).await?;
    leave_for("/admin/announcements?done=ended")
}
