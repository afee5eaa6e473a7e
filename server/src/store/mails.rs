//! Table `mails`: what is to be sent. Times are the database's own, as in `jobs`.

use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        email::Email,
        failed_work::kept_error,
        ids::{MailId, UserId},
        mail::{LEASE, Letter, Written},
    },
    store::error::StoreError,
};

/// What can't be read as a letter was not written by this program.
fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError(sqlx::Error::Decode(Box::new(error)))
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError(sqlx::Error::Encode(Box::new(error))))
}

/// Adds a mail, to be sent as soon as the transaction is committed. `user`: whom it is about, if there is one.
pub async fn insert(
    db: &mut PgConnection,
    recipient: &Email,
    user: Option<UserId>,
    letter: &Letter,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into mails (id, recipient, user_id, letter, run_at, inserted_at) values ($1, $2, $3, $4, now(), $5)",
        MailId::generate().0,
        recipient.as_str(),
        user.map(|user| user.0),
        to_json(letter)?,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A mail that somebody has in hand.
#[derive(Debug, Clone)]
pub struct ClaimedMail {
    /// Identifier.
    pub id: MailId,
    /// Where it goes.
    pub recipient: String,
    /// Whom it is about.
    pub user: Option<UserId>,
    /// What it says.
    pub letter: Letter,
    /// Proves that it is in hand.
    pub claim: Uuid,
    /// Tries before this one.
    pub failures: i32,
}

/// Takes mails that are due, those first that have waited the longest. What a process held that is gone is taken again when
/// its lease is over: a mail may be sent twice, but is not lost.
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

/// Takes a mail that is in hand out of the queue. `false`: somebody else has it.
pub async fn complete(db: &PgPool, mail: &ClaimedMail) -> Result<bool, StoreError> {
    let done = sqlx::query!("delete from mails where id = $1 and claim = $2", mail.id.0, mail.claim)
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Gives a mail back that could not be sent for this reason, to be tried again after so many seconds; without them it is
/// given up, and stays for operators until it is too old.
pub async fn release(
    db: &PgPool,
    mail: &ClaimedMail,
    error: &str,
    delay_seconds: Option<f64>,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update mails
         set claim = null, lease_until = null, run_at = now() + coalesce($4::float8, 0) * interval '1 s',
             failed_at = now(), last_error = $3, given_up = $4 is null
         where id = $1 and claim = $2",
        mail.id.0,
        mail.claim,
        kept_error(error),
        delay_seconds,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Keeps a mail that is in hand as it was written, in place of sending it.
pub async fn keep(db: &PgPool, mail: &ClaimedMail, written: &Written) -> Result<(), StoreError> {
    sqlx::query!(
        "update mails set claim = null, lease_until = null, failed_at = null, kept = $3 where id = $1 and claim = $2",
        mail.id.0,
        mail.claim,
        to_json(written)?,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A mail that was kept.
pub struct KeptMail {
    /// Identifier.
    pub id: MailId,
    /// Where it would have gone.
    pub recipient: String,
    /// When it was caused.
    pub inserted_at: OffsetDateTime,
    /// What it says.
    pub written: Written,
}

/// The latest mails that were kept, the latest first; with `only`, this one.
pub async fn list_kept(db: &PgPool, only: Option<MailId>, at_most: i64) -> Result<Vec<KeptMail>, StoreError> {
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
            Ok(KeptMail {
                id: MailId(row.id),
                recipient: row.recipient,
                inserted_at: row.inserted_at,
                written: serde_json::from_value(row.kept).map_err(unreadable)?,
            })
        })
        .collect()
}

/// Calls off what has not been sent to this user about another address.
pub async fn delete_address_changes(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from mails where user_id = $1 and letter ->> 'kind' = 'confirm_address' and kept is null",
        user.0
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets mails, sent or not, that were caused before a time.
pub async fn delete_before(db: &PgPool, time: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!("delete from mails where inserted_at < $1", time)
        .execute(db)
        .await?;
    Ok(())
}

/// Mails that wait to be sent, and for how long the one has that should have been sent first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaitingMails {
    /// How many.
    pub mails: i64,
    /// 0 without one.
    pub oldest_seconds: f64,
}

/// Measures what is still to be sent.
pub async fn measure(db: &PgPool) -> Result<WaitingMails, StoreError> {
    let waiting = sqlx::query_as!(
        WaitingMails,
        r#"select count(*) as "mails!",
               coalesce(extract(epoch from now() - min(inserted_at)), 0)::float8 as "oldest_seconds!"
           from mails where kept is null and not given_up"#
    );
    Ok(waiting.fetch_one(db).await?)
}
