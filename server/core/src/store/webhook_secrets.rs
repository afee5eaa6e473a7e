//! Table `webhook_secrets`: signing secrets of webhooks.

use platen_domain::ids::AccountId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// A stored secret.
#[derive(Debug)]
pub struct StoredSecret {
    /// Id to which the encryption is bound.
    pub id: Uuid,
    /// The secret, encrypted.
    pub sealed: Vec<u8>,
    pub inserted_at: OffsetDateTime,
    /// Until when it signs along with its successor; `None` for the current secret.
    pub expires_at: Option<OffsetDateTime>,
}

/// Stores the current secret, unless the account already has one.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    id: Uuid,
    sealed: &[u8],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into webhook_secrets (id, account_id, sealed, inserted_at) values ($1, $2, $3, $4)
         on conflict (account_id) where expires_at is null do nothing",
        id,
        account.0,
        sealed,
        now,
    );
    execute(db, insert).await
}

/// Former secrets that continue to sign along with the current one.
const MOST_FORMER: i64 = 3;

/// Makes the current secret expire at `expires_at`. Deletes former secrets that have expired, or that exceed
/// [`MOST_FORMER`].
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
    let update = sqlx::query!(
        "update webhook_secrets set expires_at = $2 where account_id = $1 and expires_at is null",
        account.0,
        expires_at,
    );
    execute(db, update).await
}

/// Returns the valid secrets of an account, current one first.
pub async fn list(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<StoredSecret>, StoreError> {
    let secrets = sqlx::query_as!(
        StoredSecret,
        "select id, sealed, inserted_at, expires_at from webhook_secrets
         where account_id = $1 and (expires_at is null or expires_at > $2)
         order by expires_at desc nulls first",
        account.0,
        now,
    );
    Ok(secrets.fetch_all(db).await?)
}
