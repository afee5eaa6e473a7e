//! What the page of announcements asks of the server. All of it is for operators.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{admin::announcement::AnnouncementForm, own_path::OwnPath, rejection::Field},
};

/// Tells everybody something.
#[server(prefix = "/web", endpoint = "announce")]
pub async fn announce(
    /// What.
    words: String,
    /// Where there is more to read.
    link: String,
    /// What the link says.
    link_words: String,
    /// How much it matters.
    level: String,
    /// From when on.
    starts_at: String,
    /// Until when.
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

/// Ends what is told, or keeps it from beginning.
#[server(prefix = "/web", endpoint = "end-announcement")]
pub async fn end_announcement(
    /// Its id.
    subject: String,
) -> Result<(), AppError> {
    let typed = vec![(Field::Subject, subject.clone())];
    let ended = backend().end_announcement(subject).await;
    ended.map_err(|error| error.with_typed(typed))?;
    leave_for(&OwnPath::to("/admin/announcements?done=ended"));
    Ok(())
}
