//! Table `passkeys`.

use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        display_name::DisplayName,
        ids::{PasskeyId, UserId},
    },
    store::error::StoreError,
};

/// No two users can register one credential, and nobody can register it twice.
pub const CREDENTIAL_KEY: &str = "passkeys_credential_id_key";

/// A passkey to be.
pub struct NewPasskey<'a> {
    /// Identifier.
    pub id: PasskeyId,
    /// What its authenticator calls it.
    pub credential_id: &'a [u8],
    /// The public key, and what goes with it.
    pub credential: &'a Value,
    /// What its user calls it.
    pub name: &'a DisplayName,
}

/// Adds a passkey; [`CREDENTIAL_KEY`] refuses one that is there.
pub async fn insert(
    db: &mut PgConnection,
    user: UserId,
    passkey: NewPasskey<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into passkeys (id, user_id, credential_id, credential, name, inserted_at)
         values ($1, $2, $3, $4, $5, $6)",
        passkey.id.0,
        user.0,
        passkey.credential_id,
        passkey.credential,
        passkey.name.as_str(),
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A passkey, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPasskey {
    /// Identifier.
    pub id: PasskeyId,
    /// What its user calls it.
    pub name: String,
    /// When it was last used.
    pub used_at: Option<OffsetDateTime>,
    /// When it was added.
    pub inserted_at: OffsetDateTime,
}

/// A user's passkeys, the oldest first.
pub async fn list(db: &PgPool, user: UserId) -> Result<Vec<ListedPasskey>, StoreError> {
    let passkeys = sqlx::query_as!(
        ListedPasskey,
        "select id, name, used_at, inserted_at
           from passkeys where user_id = $1 order by inserted_at, id",
        user.0,
    );
    Ok(passkeys.fetch_all(db).await?)
}

/// What a user's passkeys are checked by.
pub async fn list_credentials(db: &PgPool, user: UserId) -> Result<Vec<Value>, StoreError> {
    let credentials = sqlx::query_scalar!(
        "select credential from passkeys where user_id = $1 order by inserted_at, id",
        user.0,
    );
    Ok(credentials.fetch_all(db).await?)
}

/// A passkey that was used.
pub struct UsedPasskey<'a> {
    /// What its authenticator calls it.
    pub credential_id: &'a [u8],
    /// As it is known from now on.
    pub credential: &'a Value,
    /// How often its authenticator says that it has signed; 0: it does not count.
    pub sign_count: u32,
}

/// Takes a use of a user's passkey. `false`: they have none such any more, or the count does not rise: there is a copy of
/// it. Of several who come with one count at once, one is the first.
pub async fn take_use(
    db: &PgPool,
    user: UserId,
    passkey: UsedPasskey<'_>,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update passkeys set credential = $3, sign_count = $4, used_at = $5
         where user_id = $1 and credential_id = $2 and (sign_count < $4 or (sign_count = 0 and $4 = 0))",
        user.0,
        passkey.credential_id,
        passkey.credential,
        i64::from(passkey.sign_count),
        now,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Removes a user's passkey. Answers its name; `None`: they have no such passkey.
pub async fn delete(db: &mut PgConnection, user: UserId, id: PasskeyId) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "delete from passkeys where user_id = $1 and id = $2 returning name",
        user.0,
        id.0,
    );
    Ok(name.fetch_optional(db).await?)
}

/// Removes all passkeys of a user.
pub async fn delete_all(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    sqlx::query!("delete from passkeys where user_id = $1", user.0)
        .execute(db)
        .await?;
    Ok(())
}
