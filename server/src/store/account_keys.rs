//! Table `account_keys`.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::AccountId,
        sealing::{SecretKeyId, Wrapped},
    },
    store::error::StoreError,
};

/// The account's data key, if it has one.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<Wrapped>, StoreError> {
    let row = sqlx::query_as!(
        Wrapped,
        "select secret_key_id, wrapped_key as sealed from account_keys where account_id = $1",
        account.0,
    );
    Ok(row.fetch_optional(db).await?)
}

/// Gives an account its data key; one that has a data key already keeps that.
pub async fn insert(db: &PgPool, account: AccountId, key: &Wrapped, now: OffsetDateTime) -> Result<(), StoreError> {
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

/// The data keys of all accounts that are wrapped under other secret keys than this one.
pub async fn list_under_others(db: &PgPool, id: &SecretKeyId) -> Result<Vec<(AccountId, Wrapped)>, StoreError> {
    let rows = sqlx::query!(
        "select account_id, secret_key_id, wrapped_key from account_keys where secret_key_id <> $1",
        id.as_str(),
    );
    let rows = rows.fetch_all(db).await?.into_iter().map(|row| {
        let wrapped = Wrapped {
            secret_key_id: row.secret_key_id,
            sealed: row.wrapped_key,
        };
        (AccountId(row.account_id), wrapped)
    });
    Ok(rows.collect())
}

/// Replaces the form in which an account's data key is stored. `false`: it was another one by now.
pub async fn replace(db: &PgPool, account: AccountId, former: &Wrapped, new: &Wrapped) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update account_keys set secret_key_id = $3, wrapped_key = $4 where account_id = $1 and wrapped_key = $2",
        account.0,
        former.sealed,
        new.secret_key_id,
        new.sealed,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}
