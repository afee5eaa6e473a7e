//! Table `passkeys`.

use platen_domain::{
    display_name::DisplayName,
    ids::{PasskeyId, UserId},
    second_factor::ListedPasskey,
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// A credential can be registered only once, by one user.
pub const CREDENTIAL_KEY: &str = "passkeys_credential_id_key";

/// A passkey to be inserted.
pub struct NewPasskey<'a> {
    pub id: PasskeyId,
    /// The authenticator's id of the credential.
    pub credential_id: &'a [u8],
    /// The public key and its metadata.
    pub credential: &'a Value,
    /// Display name, chosen by the user.
    pub name: &'a DisplayName,
}

/// Inserts a passkey. Violates [`CREDENTIAL_KEY`] if the credential is already registered.
pub async fn insert(
    db: &mut PgConnection,
    user: UserId,
    passkey: NewPasskey<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into passkeys (id, user_id, credential_id, credential, name, inserted_at)
         values ($1, $2, $3, $4, $5, $6)",
        passkey.id.0,
        user.0,
        passkey.credential_id,
        passkey.credential,
        passkey.name.as_str(),
        now,
    );
    execute(db, insert).await
}

/// Returns a user's passkeys, oldest first.
pub async fn list(db: &PgPool, user: UserId) -> Result<Vec<ListedPasskey>, StoreError> {
    let passkeys = sqlx::query_as!(
        ListedPasskey,
        "select id, name, used_at, inserted_at
           from passkeys where user_id = $1 order by inserted_at, id",
        user.0,
    );
    Ok(passkeys.fetch_all(db).await?)
}

/// Returns the credentials that verify a user's passkeys.
pub async fn list_credentials(db: &PgPool, user: UserId) -> Result<Vec<Value>, StoreError> {
    let credentials = sqlx::query_scalar!(
        "select credential from passkeys where user_id = $1 order by inserted_at, id",
        user.0,
    );
    Ok(credentials.fetch_all(db).await?)
}

/// A passkey that was used.
pub struct UsedPasskey<'a> {
    /// The authenticator's id of the credential.
    pub credential_id: &'a [u8],
    /// The credential to store from now on.
    pub credential: &'a Value,
    /// The authenticator's signature counter; 0 if it doesn't count.
    pub sign_count: u32,
}

/// Records a use of a user's passkey. Returns `false` if the user no longer has it, or if the counter doesn't increase,
/// which indicates a copied passkey. Of concurrent uses with the same counter, one succeeds.
pub async fn take_use(
    db: &PgPool,
    user: UserId,
    passkey: UsedPasskey<'_>,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update passkeys set credential = $3, sign_count = $4, used_at = $5
         where user_id = $1 and credential_id = $2 and (sign_count < $4 or (sign_count = 0 and $4 = 0))",
        user.0,
        passkey.credential_id,
        passkey.credential,
        i64::from(passkey.sign_count),
        now,
    );
    changes_one(db, update).await
}

/// Deletes a user's passkey. Returns its name, or `None` if the user has no such passkey.
pub async fn delete(db: &mut PgConnection, user: UserId, id: PasskeyId) -> Result<Option<String>, StoreError> {
    let name = sqlx::query_scalar!(
        "delete from passkeys where user_id = $1 and id = $2 returning name",
        user.0,
        id.0,
    );
    Ok(name.fetch_optional(db).await?)
}

/// Deletes all passkeys of a user.
pub async fn delete_all(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from passkeys where user_id = $1", user.0);
    execute(db, delete).await
}
