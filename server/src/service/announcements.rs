//! What operators tell everybody who works in the dashboard.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        announcement::NewAnnouncement,
        audit_log::{AuditDeed, AuditDoer},
        ids::{AnnouncementId, UserId},
    },
    store::{
        announcements::{self, Announcement},
        audit_log,
        error::StoreError,
        tx,
    },
};

/// So many are listed: all that matter, unless somebody announces something every day.
const LISTED: i64 = 200;

/// Tells something.
pub async fn announce(
    db: &PgPool,
    doer: &AuditDoer,
    new: &NewAnnouncement,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut transaction = tx::begin(db).await?;
    announcements::insert(&mut transaction, new, now).await?;
    let deed = AuditDeed::Announced {
        words: new.words.clone(),
    };
    audit_log::insert(&mut transaction, doer, None, deed, "", now).await?;
    tx::commit(transaction).await
}

/// Ends what is told, or keeps it from beginning. `false`: there is none, or its time was over.
pub async fn end(db: &PgPool, doer: &AuditDoer, id: AnnouncementId, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let Some(words) = announcements::end(&mut transaction, id, now).await? else {
        return Ok(false);
    };
    let deed = AuditDeed::AnnouncementEnded { words };
    audit_log::insert(&mut transaction, doer, None, deed, "", now).await?;
    tx::commit(transaction).await?;
    Ok(true)
}

/// All of them, those first that begin or have begun last.
pub async fn list(db: &PgPool) -> Result<Vec<Announcement>, StoreError> {
    announcements::list(db, LISTED).await
}

/// What a user is told now.
pub async fn list_shown(db: &PgPool, user: UserId, now: OffsetDateTime) -> Result<Vec<Announcement>, StoreError> {
    announcements::list_shown(db, user, now).await
}

/// Lets a user not see one any more.
pub async fn hide(db: &PgPool, user: UserId, id: AnnouncementId) -> Result<(), StoreError> {
    announcements::hide(db, user, id).await
}
