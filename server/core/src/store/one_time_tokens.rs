//! Table `one_time_tokens`: tokens of links in mails.

use platen_domain::{
    email::Email,
    ids::UserId,
    one_time_token::{Purpose, TokenDigest},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Inserts a token that is valid from `now` for the lifetime of its purpose. `user` is `None` for the verification of
/// an address, because that user doesn't exist yet.
pub async fn insert(
    db: &PgPool,
    digest: TokenDigest,
    purpose: Purpose,
    email: &Email,
    user: Option<UserId>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into one_time_tokens (digest, purpose, email, user_id, expires_at, inserted_at)
         values ($1, $2, $3, $4, $5, $6)",
        &digest.0[..],
        purpose.into_str(),
        email.as_str(),
        user.map(|user| user.0),
        now + purpose.lifetime(),
        now,
    );
    execute(db, insert).await
}

/// Recipient of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The address that the token was sent to.
    pub email: Email,
    /// `None` if the token verifies an address.
    pub user: Option<UserId>,
}

/// Returns the recipient of a valid token with this purpose, without using it.
pub async fn find(
    db: &PgPool,
    digest: TokenDigest,
    purpose: Purpose,
    now: OffsetDateTime,
) -> Result<Option<Subject>, StoreError> {
    let row = sqlx::query!(
        "select email, user_id from one_time_tokens where digest = $1 and purpose = $2 and expires_at > $3",
        &digest.0[..],
        purpose.into_str(),
        now,
    )
    .fetch_optional(db)
    .await?;
    let subject = row.and_then(|row| {
        Some(Subject {
            email: row.email.parse().ok()?,
            user: row.user_id.map(UserId),
        })
    });
    Ok(subject)
}

/// Redeems a token. Returns `false` if it has another purpose or is no longer valid.
pub async fn use_up(
    db: &mut PgConnection,
    digest: TokenDigest,
    purpose: Purpose,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let delete = sqlx::query!(
        "delete from one_time_tokens where digest = $1 and purpose = $2 and expires_at > $3",
        &digest.0[..],
        purpose.into_str(),
        now,
    );
    changes_one(db, delete).await
}

/// Deletes all tokens that verify an address.
pub async fn delete_verifying(db: &mut PgConnection, email: &Email) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from one_time_tokens where purpose = 'verify' and email = $1",
        email.as_str()
    );
    execute(db, delete).await
}

/// Deletes a user's tokens with one purpose, or all of them.
pub async fn delete_of_user(db: &mut PgConnection, user: UserId, purpose: Option<Purpose>) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from one_time_tokens where user_id = $1 and ($2::text is null or purpose = $2)",
        user.0,
        purpose.map(|purpose| purpose.into_str()),
    );
    execute(db, delete).await
}

pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from one_time_tokens where expires_at <= $1", now);
    execute(db, delete).await
}
