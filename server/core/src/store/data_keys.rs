//! Table `data_keys`: data keys of accounts, wrapped by the master key.

use platen_domain::{
    encryption::{SecretKeyId, Wrapped},
    ids::AccountId,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Returns the account's wrapped data key. `None` if it has none yet.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<Wrapped>, StoreError> {
    let row = sqlx::query_as!(
        Wrapped,
        "select secret_key_id, wrapped_key as sealed from account_keys where account_id = $1",
        account.0,
    );
    Ok(row.fetch_optional(db).await?)
}

/// Stores the account's data key. Does nothing if the account already has one.
pub async fn insert(db: &PgPool, account: AccountId, key: &Wrapped, now: OffsetDateTime) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into account_keys (account_id, secret_key_id, wrapped_key, inserted_at) values ($1, $2, $3, $4)
         on conflict on constraint account_keys_pkey do nothing",
        account.0,
        key.secret_key_id,
        key.sealed,
        now,
    );
    execute(db, insert).await
}

/// Returns the data keys of all accounts that are wrapped by a master key other than `id`.
pub async fn list_under_others(db: &PgPool, id: &SecretKeyId) -> Result<Vec<(AccountId, Wrapped)>, StoreError> {
    let rows = sqlx::query!(
        "select account_id, secret_key_id, wrapped_key from account_keys where secret_key_id <> $1",
        id.as_str(),
    )
    .map(|row| {
        let wrapped = Wrapped {
            secret_key_id: row.secret_key_id,
            sealed: row.wrapped_key,
        };
        (AccountId(row.account_id), wrapped)
    });
    Ok(rows.fetch_all(db).await?)
}

/// Replaces an account's wrapped data key with a rewrapped one. Returns `false` if it is no longer `former`.
pub async fn replace(db: &PgPool, account: AccountId, former: &Wrapped, new: &Wrapped) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update account_keys set secret_key_id = $3, wrapped_key = $4 where account_id = $1 and wrapped_key = $2",
        account.0,
        former.sealed,
        new.secret_key_id,
        new.sealed,
    );
    changes_one(db, update).await
}
