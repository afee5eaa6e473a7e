//! Keys that expire soon.

use platen_domain::ids::{AccountId, ApiKeyId};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use crate::store::error::StoreError;

/// A key that expires soon.
#[derive(Debug)]
pub struct ExpiringKey {
    pub id: ApiKeyId,
    pub account: AccountId,
    /// Display name.
    pub name: String,
    /// False for test keys.
    pub livemode: bool,
    pub expires_at: OffsetDateTime,
}

/// Returns up to `at_most` keys of all accounts that expire within `notice` after `now`, and marks them, so that each
/// expiry is returned once. Omits revoked and replaced keys, those of suspended accounts, and those that were created for
/// no longer than `notice`. Skips keys that another process handles.
pub async fn take(
    db: &mut PgConnection,
    notice: Duration,
    now: OffsetDateTime,
    at_most: i64,
) -> Result<Vec<ExpiringKey>, StoreError> {
    let keys = sqlx::query!(
        r#"update api_keys set notified_of_expiry = expires_at
           where id in (
               select api_keys.id from api_keys join accounts on accounts.id = api_keys.account_id
               where api_keys.expires_at > $1 and api_keys.expires_at <= $1 + $2::float8 * interval '1 s'
                   and api_keys.expires_at > api_keys.inserted_at + $2::float8 * interval '1 s'
                   and api_keys.revoked_at is null and api_keys.replaced_at is null
                   and api_keys.notified_of_expiry is distinct from api_keys.expires_at
                   and accounts.suspended_at is null
               order by api_keys.expires_at
               limit $3
               for update of api_keys skip locked
           )
           returning id, account_id, name, livemode, expires_at as "expires_at!""#,
        now,
        notice.as_seconds_f64(),
        at_most,
    )
    .map(|row| ExpiringKey {
        id: ApiKeyId(row.id),
        account: AccountId(row.account_id),
        name: row.name,
        livemode: row.livemode,
        expires_at: row.expires_at,
    });
    Ok(keys.fetch_all(db).await?)
}
