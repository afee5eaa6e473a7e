//! Table `sign_ups`: those who want an account and have not confirmed their address yet.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{display_name::DisplayName, email::Email},
    store::error::StoreError,
};

/// Of one address, only so many of the latest are looked at: each costs a hash.
const MOST: i64 = 5;

/// Somebody who wants an account.
pub struct NewSignUp<'a> {
    /// Log-in name to be.
    pub email: &'a Email,
    /// What they call themselves.
    pub name: &'a DisplayName,
    /// What they call the account.
    pub account_name: &'a DisplayName,
    /// PHC string.
    pub password_hash: &'a str,
    /// How long they may take.
    pub expires_at: OffsetDateTime,
}

/// Adds one.
pub async fn insert(db: &mut PgConnection, new: NewSignUp<'_>, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into sign_ups (id, email, name, account_name, password_hash, expires_at, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        Uuid::now_v7(),
        new.email.as_str(),
        new.name.as_str(),
        new.account_name.as_str(),
        new.password_hash,
        new.expires_at,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Somebody who waits for their account.
pub struct SignUp {
    /// What they call themselves.
    pub name: String,
    /// What they call the account.
    pub account_name: String,
    /// PHC string.
    pub password_hash: String,
}

/// Those with this address, the latest first; at most five.
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

/// Forgets those with this address.
pub async fn delete(db: &mut PgConnection, email: &Email) -> Result<(), StoreError> {
    sqlx::query!("delete from sign_ups where email = $1", email.as_str())
        .execute(db)
        .await?;
    Ok(())
}

/// Forgets those who took too long.
pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!("delete from sign_ups where expires_at <= $1", now)
        .execute(db)
        .await?;
    Ok(())
}
