//! Table `users`.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{email::Email, ids::UserId},
    store::error::StoreError,
};

/// Two users can't have one address.
pub const EMAIL_KEY: &str = "users_email_key";

/// A person to be.
pub struct NewUser<'a> {
    /// Identifier.
    pub id: UserId,
    /// Log-in name.
    pub email: &'a Email,
    /// PHC string.
    pub password_hash: &'a str,
}

/// Adds a user; [`EMAIL_KEY`] refuses a second one with the same address.
pub async fn insert(db: &mut PgConnection, user: NewUser<'_>, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into users (id, email, password_hash, inserted_at) values ($1, $2, $3, $4)",
        user.id.0,
        user.email.as_str(),
        user.password_hash,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}
