//! Table `account_keys`.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::AccountId,
        sealing::{SecretKeyId, WrappedKey},
    },
    store::error::StoreError,
};

/// The account's data key, if it has one.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<WrappedKey>, StoreError> {
    let row = sqlx::query_as!(
        WrappedKey,
        "select secret_key_id, wrapped_key as sealed from account_keys where account_id = $1",
        account.0,
    );
    Ok(row.fetch_optional(db).await?)
}

/// Gives an account its data key; one that has a data key already keeps that.
pub async fn insert(db: &PgPool, account: AccountId, key: &WrappedKey, now: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into account_keys (account_id, secret_key_id, wrapped_key, inserted_at) values ($1, $2, $3, $4)
         on conflict on constraint account_keys_pkey do nothing",
        account.0,
        key.secret_key_id,
        key.sealed,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Another secret key than this one that data keys are wrapped under.
pub async fn find_other_secret_key(db: &PgPool, id: &SecretKeyId) -> Result<Option<String>, StoreError> {
    let other = sqlx::query_scalar!(
        "select secret_key_id from account_keys where secret_key_id <> $1 limit 1",
        id.as_str(),
    );
    Ok(other.fetch_optional(db).await?)
}
