//! Table `webhook_secrets`.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{domain::ids::AccountId, store::error::StoreError};

/// A secret as it is stored.
#[derive(Debug)]
pub struct SealedSecret {
    /// For which it is sealed.
    pub id: Uuid,
    /// The secret.
    pub sealed: Vec<u8>,
}

/// Adds the current secret, unless there is one already.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    secret: &SealedSecret,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into webhook_secrets (id, account_id, sealed, inserted_at) values ($1, $2, $3, $4)
         on conflict (account_id) where expires_at is null do nothing",
        secret.id,
        account.0,
        secret.sealed,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Former secrets that go on to sign beside the current one.
const MOST_FORMER: i64 = 3;

/// Lets the current secret expire, and deletes those that have expired, or were followed by [`MOST_FORMER`] others.
pub async fn expire(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from webhook_secrets
         where account_id = $1 and (
            expires_at <= $2
            or id in (
                select id from webhook_secrets where account_id = $1 and expires_at is not null
                order by id desc offset $3
            )
         )",
        account.0,
        now,
        MOST_FORMER - 1,
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "update webhook_secrets set expires_at = $2 where account_id = $1 and expires_at is null",
        account.0,
        expires_at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The secrets of an account that are in use, the current one first.
pub async fn list(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<SealedSecret>, StoreError> {
    let secrets = sqlx::query_as!(
        SealedSecret,
        "select id, sealed from webhook_secrets
         where account_id = $1 and (expires_at is null or expires_at > $2)
         order by expires_at desc nulls first",
        account.0,
        now,
    );
    Ok(secrets.fetch_all(db).await?)
}

/// What is known of a secret without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretTimes {
    /// When it was made.
    pub inserted_at: OffsetDateTime,
    /// Until when it signs beside its successor; nothing: it is the current one.
    pub expires_at: Option<OffsetDateTime>,
}

/// Of the secrets of an account that are in use, the current one first.
pub async fn list_times(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<SecretTimes>, StoreError> {
    let times = sqlx::query_as!(
        SecretTimes,
        "select inserted_at, expires_at from webhook_secrets
         where account_id = $1 and (expires_at is null or expires_at > $2)
         order by expires_at desc nulls first",
        account.0,
        now,
    );
    Ok(times.fetch_all(db).await?)
}
