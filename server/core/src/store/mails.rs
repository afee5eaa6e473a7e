//! Table `mails`: the mail queue. Times come from the database's clock, as in `jobs`.

use platen_domain::{
    email::Email,
    failed_jobs::kept_error,
    ids::{MailId, UserId},
    mail::{ComposedMail, LEASE, MailKind},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

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
        "insert into mails (id, recipient, user_id, letter, run_at, inserted_at) values ($1, $2, $3, $4, now(), $5)",
        MailId::generate().0,
        recipient.as_str(),
        user.map(|user| user.0),
        to_json(letter)?,
        now,
    );
    execute(db, insert).await
}

/// A mail that a worker holds.
#[derive(Debug, Clone)]
pub struct ClaimedMail {
    pub id: MailId,
    pub recipient: String,
    /// The user whom it concerns.
    pub user: Option<UserId>,
    pub letter: MailKind,
    /// Identifies the claim.
    pub claim: Uuid,
    /// Attempts before this one.
    pub failures: i32,
}

/// Claims due mails, longest waiting first. A mail held by a dead process can be claimed again when its lease ends, so
/// that a mail may be sent twice, but is never lost.
pub async fn claim(db: &PgPool, at_most: i64) -> Result<Vec<ClaimedMail>, StoreError> {
    let rows = sqlx::query!(
        r#"update mails
           set claim = gen_random_uuid(), lease_until = now() + $2::float8 * interval '1 s', tries = tries + 1
           where id in (
               select id from mails
               where kept is null and not given_up and run_at <= now() and (claim is null or lease_until < now())
               order by run_at, id
               limit $1
               for update skip locked
           )
           returning id, recipient, user_id, letter, claim as "claim!", tries"#,
        at_most,
        LEASE.as_secs_f64(),
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(ClaimedMail {
                id: MailId(row.id),
                recipient: row.recipient,
                user: row.user_id.map(UserId),
                letter: serde_json::from_value(row.letter).map_err(unreadable)?,
                claim: row.claim,
                failures: row.tries - 1,
            })
        })
        .collect()
}

/// Deletes a sent mail. Returns `false` if another worker holds it.
pub async fn complete(db: &PgPool, mail: &ClaimedMail) -> Result<bool, StoreError> {
    let delete = sqlx::query!("delete from mails where id = $1 and claim = $2", mail.id.0, mail.claim);
    changes_one(db, delete).await
}

/// Releases a mail that couldn't be sent, for a retry after `delay_seconds`. `None` gives the mail up; it stays visible
/// to operators until it is purged. Returns `false` if another worker holds it.
pub async fn release(
    db: &PgPool,
    mail: &ClaimedMail,
    error: &str,
    delay_seconds: Option<f64>,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update mails
         set claim = null, lease_until = null, run_at = now() + coalesce($4::float8, 0) * interval '1 s',
             failed_at = now(), last_error = $3, given_up = $4 is null
         where id = $1 and claim = $2",
        mail.id.0,
        mail.claim,
        kept_error(error),
        delay_seconds,
    );
    changes_one(db, update).await
}

/// Stores a mail as it would have been sent, instead of sending it.
pub async fn store(db: &PgPool, mail: &ClaimedMail, written: &ComposedMail) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update mails set claim = null, lease_until = null, failed_at = null, kept = $3 where id = $1 and claim = $2",
        mail.id.0,
        mail.claim,
        to_json(written)?,
    );
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
           from mails where kept is null and not given_up"#
    );
    Ok(waiting.fetch_one(db).await?)
}
