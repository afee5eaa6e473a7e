//! Announcements of operators to all users of the dashboard.

use platen_domain::{
    announcement::{Announcement, NewAnnouncement},
    audit_log::{AuditActor, AuditEvent},
    ids::{AnnouncementId, UserId},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{announcements, audit_log, error::StoreError, tx};

/// Announcements that [`list`] returns: enough for all that matter, unless there is one every day.
const LISTED: i64 = 200;

/// Publishes an announcement.
pub async fn announce(
    db: &PgPool,
    actor: &AuditActor,
    new: &NewAnnouncement,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut transaction = tx::begin(db).await?;
    announcements::insert(&mut transaction, new, now).await?;
    let event = AuditEvent::Announced {
        words: new.words.clone(),
    };
    audit_log::insert(&mut transaction, actor, None, event, "", now).await?;
    tx::commit(transaction).await
}

/// Ends an announcement, or cancels it before it begins. Returns `false` if it doesn't exist or has already ended.
pub async fn end(db: &PgPool, actor: &AuditActor, id: AnnouncementId, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let Some(words) = announcements::end(&mut transaction, id, now).await? else {
        return Ok(false);
    };
    let event = AuditEvent::AnnouncementEnded { words };
    audit_log::insert(&mut transaction, actor, None, event, "", now).await?;
    tx::commit(transaction).await?;
    Ok(true)
}

/// Returns the latest 200 announcements, ordered by start, the latest first.
pub async fn list(db: &PgPool) -> Result<Vec<Announcement>, StoreError> {
    announcements::list(db, LISTED).await
}

/// Returns the announcements that a user sees now.
pub async fn list_shown(db: &PgPool, user: UserId, now: OffsetDateTime) -> Result<Vec<Announcement>, StoreError> {
    announcements::list_shown(db, user, now).await
}

/// Hides an announcement from a user.
pub async fn hide(db: &PgPool, user: UserId, id: AnnouncementId) -> Result<(), StoreError> {
    announcements::hide(db, user, id).await
}
