//! Table `mails`: mails to be sent. A trigger inserts the job of a mail, which is deleted with it.

use platen_domain::{
    email::Email,
    ids::{MailId, UserId},
    mail::{ComposedMail, MailKind},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// A value that can't be parsed wasn't written by this service.
fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError(sqlx::Error::Decode(Box::new(error)))
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))
}

/// Enqueues a mail, to be sent once the transaction is committed. `user` is the user whom it concerns, if any.
pub async fn insert(
    db: &mut PgConnection,
    recipient: &Email,
    user: Option<UserId>,
    letter: &MailKind,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into mails (id, recipient, user_id, letter, inserted_at) values ($1, $2, $3, $4, $5)",
        MailId::generate().0,
        recipient.as_str(),
        user.map(|user| user.0),
        to_json(letter)?,
        now,
    );
    execute(db, insert).await
}

/// A mail that is to be sent.
#[derive(Debug, Clone)]
pub struct QueuedMail {
    pub recipient: String,
    /// The user whom it concerns.
    pub user: Option<UserId>,
    pub letter: MailKind,
}

/// Returns a mail that is to be sent.
pub async fn find(db: &PgPool, id: MailId) -> Result<Option<QueuedMail>, StoreError> {
    let row = sqlx::query!(
        "select recipient, user_id, letter from mails where id = $1 and kept is null",
        id.0,
    );
    let Some(row) = row.fetch_optional(db).await? else {
        return Ok(None);
    };
    Ok(Some(QueuedMail {
        recipient: row.recipient,
        user: row.user_id.map(UserId),
        letter: serde_json::from_value(row.letter).map_err(unreadable)?,
    }))
}

/// Deletes a mail, and its job.
pub async fn delete(db: &PgPool, id: MailId) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from mails where id = $1", id.0);
    execute(db, delete).await
}

/// Stores a mail as it would have been sent, instead of sending it.
pub async fn store(db: &mut PgConnection, id: MailId, written: &ComposedMail) -> Result<(), StoreError> {
    let update = sqlx::query!("update mails set kept = $2 where id = $1", id.0, to_json(written)?);
    execute(db, update).await
}

/// A mail that was stored instead of sent.
pub struct StoredMail {
    pub id: MailId,
    pub recipient: String,
    /// When it was enqueued.
    pub inserted_at: OffsetDateTime,
    pub written: ComposedMail,
}

/// Returns up to `at_most` stored mails, latest first, or only the mail `only`.
pub async fn list_stored(db: &PgPool, only: Option<MailId>, at_most: i64) -> Result<Vec<StoredMail>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, recipient, inserted_at, kept as "kept!" from mails
           where kept is not null and ($1::uuid is null or id = $1)
           order by id desc limit $2"#,
        only.map(|id| id.0),
        at_most,
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(StoredMail {
                id: MailId(row.id),
                recipient: row.recipient,
                inserted_at: row.inserted_at,
                written: serde_json::from_value(row.kept).map_err(unreadable)?,
            })
        })
        .collect()
}

/// Deletes unsent mails that ask this user to confirm another address.
pub async fn delete_address_changes(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from mails where user_id = $1 and letter ->> 'kind' = 'confirm_address' and kept is null",
        user.0
    );
    execute(db, delete).await
}

/// Deletes mails, sent or not, that were enqueued before `time`.
pub async fn delete_before(db: &PgPool, time: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from mails where inserted_at < $1", time);
    execute(db, delete).await
}

/// Length of the mail queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaitingMails {
    /// Number of unsent mails.
    pub mails: i64,
    /// Age of the oldest unsent mail, in seconds; 0 if there is none.
    pub oldest_seconds: f64,
}

/// Returns the length of the mail queue.
pub async fn measure(db: &PgPool) -> Result<WaitingMails, StoreError> {
    let waiting = sqlx::query_as!(
        WaitingMails,
        r#"select count(*) as "mails!",
               coalesce(extract(epoch from now() - min(inserted_at)), 0)::float8 as "oldest_seconds!"
           from mails join jobs on jobs.mail_id = mails.id
           where jobs.run_at < 'infinity'"#
    );
    Ok(waiting.fetch_one(db).await?)
}
