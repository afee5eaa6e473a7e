//! Table `sign_ups`: sign-ups whose email address isn't confirmed yet.

use platen_domain::{display_name::DisplayName, email::Email};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// Only this many of the latest sign-ups of an address are considered, because each costs a password hash.
const MOST: i64 = 5;

/// A sign-up to be inserted.
pub struct NewSignUp<'a> {
    pub email: &'a Email,
    /// Name of the user.
    pub name: &'a DisplayName,
    pub account_name: &'a DisplayName,
    /// PHC string.
    pub password_hash: &'a str,
    /// Until when the address must be confirmed.
    pub expires_at: OffsetDateTime,
}

pub async fn insert(db: &mut PgConnection, new: NewSignUp<'_>, now: OffsetDateTime) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into sign_ups (id, email, name, account_name, password_hash, expires_at, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        Uuid::now_v7(),
        new.email.as_str(),
        new.name.as_str(),
        new.account_name.as_str(),
        new.password_hash,
        new.expires_at,
        now,
    );
    execute(db, insert).await
}

/// A pending sign-up.
pub struct SignUp {
    /// Name of the user.
    pub name: String,
    pub account_name: String,
    /// PHC string.
    pub password_hash: String,
}

/// Returns the pending sign-ups of an address, latest first; at most five.
pub async fn list(db: &PgPool, email: &Email, now: OffsetDateTime) -> Result<Vec<SignUp>, StoreError> {
    let sign_ups = sqlx::query_as!(
        SignUp,
        "select name, account_name, password_hash from sign_ups
         where email = $1 and expires_at > $2
         order by id desc limit $3",
        email.as_str(),
        now,
        MOST,
    );
    Ok(sign_ups.fetch_all(db).await?)
}

/// Deletes the sign-ups of an address.
pub async fn delete(db: &mut PgConnection, email: &Email) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from sign_ups where email = $1", email.as_str());
    execute(db, delete).await
}

pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from sign_ups where expires_at <= $1", now);
    execute(db, delete).await
}
