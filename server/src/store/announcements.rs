//! Tables `announcements` and `hidden_announcements`: what operators tell everybody, and who does not want to see it.

use platen_app::model::announcement::Level;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        announcement::NewAnnouncement,
        ids::{AnnouncementId, UserId},
    },
    store::error::StoreError,
};

/// One that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// Identifier.
    pub id: AnnouncementId,
    /// Plain text.
    pub words: String,
    /// Where there is more to read, and what the link says.
    pub link: Option<(String, String)>,
    /// How much it matters.
    pub level: Level,
    /// From then on.
    pub starts_at: OffsetDateTime,
    /// Until then.
    pub ends_at: Option<OffsetDateTime>,
    /// How many people do not want to see it any more.
    pub hidden_by: i64,
}

/// Adds one.
pub async fn insert(db: &mut PgConnection, new: &NewAnnouncement, now: OffsetDateTime) -> Result<(), StoreError> {
    let link = new.link.as_ref();
    sqlx::query!(
        "insert into announcements (id, words, link, link_words, level, starts_at, ends_at, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        AnnouncementId::generate().0,
        new.words,
        link.map(|(address, _)| address.as_str()),
        link.map(|(_, words)| words.as_str()),
        new.level.as_str(),
        new.starts_at,
        new.ends_at,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
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
            // A check keeps other words out.
            level: Level::parse(&row.level).unwrap_or(Level::Warning),
            starts_at: row.starts_at,
            ends_at: row.ends_at,
            hidden_by: row.hidden_by,
        }
    }
}

/// At most so many, those first that begin or have begun last.
pub async fn list(db: &PgPool, at_most: i64) -> Result<Vec<Announcement>, StoreError> {
    let rows = sqlx::query_as!(
        AnnouncementRow,
        r#"select id, words, link, link_words, level, starts_at, ends_at,
               (select count(*) from hidden_announcements where announcement_id = announcements.id) as "hidden_by!"
           from announcements
           order by starts_at desc, id desc
           limit $1"#,
        at_most,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Into::into).collect())
}

/// Those that are told now and that this user has not hidden; warnings first.
pub async fn list_shown(db: &PgPool, user: UserId, now: OffsetDateTime) -> Result<Vec<Announcement>, StoreError> {
    let rows = sqlx::query_as!(
        AnnouncementRow,
        r#"select id, words, link, link_words, level, starts_at, ends_at, 0::bigint as "hidden_by!"
           from announcements
           where starts_at <= $2 and (ends_at is null or ends_at > $2) and not exists (
               select from hidden_announcements where announcement_id = announcements.id and user_id = $1
           )
           order by level desc, starts_at desc, id desc"#,
        user.0,
        now,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Into::into).collect())
}

/// Ends one, or keeps it from beginning. Says what it said; `None`: there is none, or its time is over.
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

/// Lets a user not see one any more, if it is there.
pub async fn hide(db: &PgPool, user: UserId, id: AnnouncementId) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into hidden_announcements (announcement_id, user_id)
         select announcements.id, users.id from announcements cross join users
         where users.id = $1 and announcements.id = $2
         on conflict do nothing",
        user.0,
        id.0,
    )
    .execute(db)
    .await?;
    Ok(())
}
