//! Table `sessions`: sessions of browsers. A cookie's value grants its session, so only a digest of it is stored.

use platen_domain::ids::{SessionId, UserId};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};

use crate::store::{
    error::StoreError,
    renders::columns::without_nul,
    statement::{changes_one, execute},
};

/// Maximum lifetime of a session, however often it is used.
const LONGEST: Duration = Duration::days(90);

/// Sessions of one user. A new session ends the oldest.
const MOST_OF_USER: i64 = 100;

/// SHA-256 of a cookie's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionDigest(pub [u8; 32]);

/// The user who is logged in, and their `session_epoch` at the log-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    pub user: UserId,
    /// A session with an earlier epoch than its user's is invalid.
    pub epoch: i32,
}

/// A stored session.
#[derive(Debug)]
pub struct StoredSession {
    pub data: Value,
    pub expires_at: OffsetDateTime,
}

/// Inserts a session, and ends those of its user except for the newest [`MOST_OF_USER`]. Returns `false` if the digest
/// exists already.
pub async fn insert(
    db: &PgPool,
    digest: SessionDigest,
    holder: Option<Holder>,
    session: &StoredSession,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into sessions (id, digest, user_id, epoch, data, expires_at, inserted_at)
         values ($1, $2, $3, $4, $5, least($6::timestamptz, $7::timestamptz), $8)
         on conflict (digest) do nothing",
        SessionId::generate().0,
        &digest.0[..],
        holder.map(|holder| holder.user.0),
        holder.map(|holder| holder.epoch),
        without_nul(session.data.clone()),
        session.expires_at,
        now + LONGEST,
        now,
    )
    .execute(db)
    .await?;
    if let Some(holder) = holder {
        sqlx::query!(
            "delete from sessions where id in (
                select id from sessions where user_id = $1 order by id desc offset $2
             )",
            holder.user.0,
            MOST_OF_USER,
        )
        .execute(db)
        .await?;
    }
    Ok(done.rows_affected() == 1)
}

/// Changes the data of a session, but not its user. A session that no longer exists isn't restored, so that a request
/// in progress can't bring back one that was ended meanwhile.
pub async fn update(db: &PgPool, digest: SessionDigest, session: &StoredSession) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update sessions
         set data = $2, expires_at = least($3::timestamptz, inserted_at + $4::float8 * interval '1 s')
         where digest = $1",
        &digest.0[..],
        without_nul(session.data.clone()),
        session.expires_at,
        LONGEST.as_seconds_f64(),
    );
    execute(db, update).await
}

/// Returns a session, unless it has expired or ended.
pub async fn find(
    db: &PgPool,
    digest: SessionDigest,
    now: OffsetDateTime,
) -> Result<Option<StoredSession>, StoreError> {
    let session = sqlx::query_as!(
        StoredSession,
        "select sessions.data, sessions.expires_at
         from sessions left join users on users.id = sessions.user_id
         where sessions.digest = $1 and sessions.expires_at > $2
             and sessions.epoch is not distinct from users.session_epoch",
        &digest.0[..],
        now,
    );
    Ok(session.fetch_optional(db).await?)
}

pub async fn delete(db: &PgPool, digest: SessionDigest) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from sessions where digest = $1", &digest.0[..]);
    execute(db, delete).await
}

/// A session as shown in lists.
#[derive(Debug)]
pub struct Listed {
    /// Id for lists, which doesn't grant the session.
    pub id: SessionId,
    pub data: Value,
    /// Whether it is the session of the request.
    pub current: bool,
}

/// Returns a user's sessions, latest first. `current` is the session of the request.
pub async fn list(
    db: &PgPool,
    user: UserId,
    current: Option<SessionDigest>,
    now: OffsetDateTime,
) -> Result<Vec<Listed>, StoreError> {
    let listed = sqlx::query_as!(
        Listed,
        r#"select sessions.id, sessions.data, coalesce(sessions.digest = $2, false) as "current!"
           from sessions join users on users.id = sessions.user_id and users.session_epoch = sessions.epoch
           where sessions.user_id = $1 and sessions.expires_at > $3
           order by sessions.id desc"#,
        user.0,
        current.as_ref().map(|digest| &digest.0[..]),
        now,
    );
    Ok(listed.fetch_all(db).await?)
}

/// Ends one of a user's sessions. Returns `false` if the user has no such session.
pub async fn delete_of_user(db: &mut PgConnection, user: UserId, id: SessionId) -> Result<bool, StoreError> {
    let delete = sqlx::query!("delete from sessions where user_id = $1 and id = $2", user.0, id.0);
    changes_one(db, delete).await
}

/// Ends all sessions of a user except for `keep`.
pub async fn delete_others(db: &mut PgConnection, user: UserId, keep: Option<SessionDigest>) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from sessions where user_id = $1 and digest is distinct from $2",
        user.0,
        keep.as_ref().map(|digest| &digest.0[..]),
    );
    execute(db, delete).await
}

pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from sessions where expires_at <= $1", now);
    execute(db, delete).await
}
