//! Tables `announcements` and `hidden_announcements`: announcements by operators to all users, and who has dismissed
//! them.

use platen_domain::{
    announcement::{Announcement, Level, NewAnnouncement},
    ids::{AnnouncementId, UserId},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// Inserts an announcement.
pub async fn insert(db: &mut PgConnection, new: &NewAnnouncement, now: OffsetDateTime) -> Result<(), StoreError> {
    let link = new.link.as_ref();
    let insert = sqlx::query!(
        "insert into announcements (id, words, link, link_words, level, starts_at, ends_at, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        AnnouncementId::generate().0,
        new.words,
        link.map(|(address, _)| address.as_str()),
        link.map(|(_, words)| words.as_str()),
        new.level.into_str(),
        new.starts_at,
        new.ends_at,
        now,
    );
    execute(db, insert).await
}

struct AnnouncementRow {
    id: AnnouncementId,
    words: String,
    link: Option<String>,
    link_words: Option<String>,
    level: String,
    starts_at: OffsetDateTime,
    ends_at: Option<OffsetDateTime>,
    hidden_by: i64,
}

impl From<AnnouncementRow> for Announcement {
    fn from(row: AnnouncementRow) -> Self {
        Self {
            id: row.id,
            words: row.words,
            link: row.link.zip(row.link_words),
            // A check constraint allows only known levels.
            level: row.level.parse().unwrap_or(Level::Warning),
            starts_at: row.starts_at,
            ends_at: row.ends_at,
            hidden_by: row.hidden_by,
        }
    }
}

/// Returns up to `at_most` announcements, by start time, latest first.
pub async fn list(db: &PgPool, at_most: i64) -> Result<Vec<Announcement>, StoreError> {
    let announcements = sqlx::query_as!(
        AnnouncementRow,
        r#"select id, words, link, link_words, level, starts_at, ends_at,
               (select count(*) from hidden_announcements where announcement_id = announcements.id) as "hidden_by!"
           from announcements
           order by starts_at desc, id desc
           limit $1"#,
        at_most,
    )
    .map(Announcement::from);
    Ok(announcements.fetch_all(db).await?)
}

/// Returns the current announcements that this user hasn't dismissed, warnings first.
pub async fn list_shown(db: &PgPool, user: UserId, now: OffsetDateTime) -> Result<Vec<Announcement>, StoreError> {
    let announcements = sqlx::query_as!(
        AnnouncementRow,
        r#"select id, words, link, link_words, level, starts_at, ends_at, 0::bigint as "hidden_by!"
           from announcements
           where starts_at <= $2 and (ends_at is null or ends_at > $2) and not exists (
               select from hidden_announcements where announcement_id = announcements.id and user_id = $1
           )
           order by level desc, starts_at desc, id desc"#,
        user.0,
        now,
    )
    .map(Announcement::from);
    Ok(announcements.fetch_all(db).await?)
}

/// Ends an announcement, or cancels one that hasn't started. Returns its text, or `None` if it doesn't exist or has
/// already ended.
pub async fn end(db: &mut PgConnection, id: AnnouncementId, now: OffsetDateTime) -> Result<Option<String>, StoreError> {
    let words = sqlx::query_scalar!(
        "update announcements set starts_at = least(starts_at, $2), ends_at = $2
         where id = $1 and (ends_at is null or ends_at > $2)
         returning words",
        id.0,
        now,
    );
    Ok(words.fetch_optional(db).await?)
}

/// Dismisses an announcement for a user. Does nothing if the announcement doesn't exist.
pub async fn hide(db: &PgPool, user: UserId, id: AnnouncementId) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into hidden_announcements (announcement_id, user_id)
         select announcements.id, users.id from announcements cross join users
         where users.id = $1 and announcements.id = $2
         on conflict do nothing",
        user.0,
        id.0,
    );
    execute(db, insert).await
}
