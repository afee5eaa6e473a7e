//! Table `devices`: browsers that users have logged in with.

use platen_domain::{
    client::{Client, DeviceDigest, RememberedDevice},
    ids::{DeviceId, UserId},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Browsers stored for one user. A new one replaces the least recently used.
const MOST_OF_USER: i64 = 100;

/// Returns whether a user has logged in with a browser.
pub async fn is_known(db: &PgPool, user: UserId, device: DeviceDigest) -> Result<bool, StoreError> {
    let known = sqlx::query_scalar!(
        r#"select exists (select from devices where user_id = $1 and digest = $2) as "known!""#,
        user.0,
        &device.0[..],
    );
    Ok(known.fetch_one(db).await?)
}

/// Returns whether a browser is remembered, so that it can log in without the second factor.
pub async fn is_remembered(
    db: &PgPool,
    user: UserId,
    device: DeviceDigest,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let remembered = sqlx::query_scalar!(
        r#"select exists (
               select from devices where user_id = $1 and digest = $2 and remembered_until > $3
           ) as "remembered!""#,
        user.0,
        &device.0[..],
        now,
    );
    Ok(remembered.fetch_one(db).await?)
}

/// Whether a browser is new to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The user has logged in with it before, or this is their first log-in.
    Known,
    /// The user has logged in before, but only with other browsers.
    New,
}

/// Records a log-in with a browser. Until `remembered_until`, the browser can log in without the second factor; `None`
/// leaves that unchanged.
pub async fn upsert(
    db: &mut PgConnection,
    user: UserId,
    client: &Client,
    device: DeviceDigest,
    remembered_until: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<Seen, StoreError> {
    // All parts of the statement see the table as it was before, without the row that is inserted here.
    let new = sqlx::query_scalar!(
        r#"with before as (select digest from devices where user_id = $2),
           noted as (
               insert into devices (id, user_id, digest, remembered_until, address, user_agent, used_at, inserted_at)
               values ($1, $2, $3, $4, $5, $6, $7, $7)
               on conflict on constraint devices_user_id_digest_key do update
               set remembered_until = coalesce(excluded.remembered_until, devices.remembered_until),
                   address = excluded.address, user_agent = excluded.user_agent, used_at = excluded.used_at
           )
           select (count(*) > 0 and count(*) filter (where digest = $3) = 0) as "new!" from before"#,
        DeviceId::generate().0,
        user.0,
        &device.0[..],
        remembered_until,
        client.address.to_string(),
        client.user_agent,
        now,
    );
    let new = new.fetch_one(&mut *db).await?;
    if new {
        sqlx::query!(
            "delete from devices where id in (
                select id from devices where user_id = $1 order by used_at desc, id offset $2
             )",
            user.0,
            MOST_OF_USER,
        )
        .execute(db)
        .await?;
    }
    Ok(if new { Seen::New } else { Seen::Known })
}

/// Returns the browsers that can log in without the user's second factor, most recently used first.
pub async fn list_remembered(
    db: &PgPool,
    user: UserId,
    now: OffsetDateTime,
) -> Result<Vec<RememberedDevice>, StoreError> {
    let devices = sqlx::query_as!(
        RememberedDevice,
        r#"select id, address, user_agent, used_at, remembered_until as "remembered_until!" from devices
           where user_id = $1 and remembered_until > $2
           order by used_at desc, id"#,
        user.0,
        now,
    );
    Ok(devices.fetch_all(db).await?)
}

/// Requires the second factor again in one of a user's browsers. Returns `false` if the user has no such remembered
/// browser.
pub async fn forget(db: &PgPool, user: UserId, id: DeviceId) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update devices set remembered_until = null where user_id = $1 and id = $2 and remembered_until is not null",
        user.0,
        id.0,
    );
    changes_one(db, update).await
}

/// Requires the second factor again in all browsers of a user.
pub async fn forget_all(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update devices set remembered_until = null where user_id = $1 and remembered_until is not null",
        user.0,
    );
    execute(db, update).await
}

/// Deletes browsers whose last log-in was before `since`.
pub async fn delete_unused(db: &PgPool, since: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from devices where used_at < $1", since);
    execute(db, delete).await
}
