//! Server functions of the page of announcements. All are for operators only.

use leptos::prelude::*;
use platen_domain::announcement::AnnouncementForm;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{own_path::OwnPath, rejection::Field},
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
    let typed = vec![
        (Field::AnnouncementWords, words.clone()),
        (Field::LinkAddress, link.clone()),
        (Field::LinkWords, link_words.clone()),
        (Field::Level, level.clone()),
        (Field::StartsAt, starts_at.clone()),
        (Field::EndsAt, ends_at.clone()),
    ];
    let form = AnnouncementForm {
        words,
        link,
        link_words,
        level,
        starts_at,
        ends_at,
    };
    let announced = backend().announce(form).await;
    announced.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/admin/announcements?done=announced"));
    Ok(())
}

/// Ends a current announcement, or cancels one that hasn't started.
#[server(prefix = "/web", endpoint = "end-announcement")]
pub async fn end_announcement(
    /// Id of the announcement.
    subject: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Subject, subject.clone())];
    let ended = backend().end_announcement(subject).await;
    ended.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/admin/announcements?done=ended"));
    Ok(())
}
