//! Tables `second_factors` (authenticator apps) and `recovery_codes`, and which users have a second factor of any kind.

use platen_domain::{
    encryption::{SecretKeyId, Wrapped},
    ids::UserId,
    second_factor::RecoveryDigest,
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// The second factors of a user.
pub struct Factors {
    /// Whether the user has an authenticator app.
    pub app: bool,
    /// Number of passkeys.
    pub passkeys: i64,
}

impl Factors {
    /// Returns whether the user has any second factor.
    pub fn any(&self) -> bool {
        self.app || self.passkeys > 0
    }
}

/// Returns whether a user has a second factor.
pub async fn exists(db: &PgPool, user: UserId) -> Result<bool, StoreError> {
    let exists = sqlx::query_scalar!(
        r#"select exists (select from users_with_second_factor where user_id = $1) as "exists!""#,
        user.0,
    );
    Ok(exists.fetch_one(db).await?)
}

/// Returns a user's second factors, and locks them against additions and removals until the transaction ends.
pub async fn lock(db: &mut PgConnection, user: UserId) -> Result<Factors, StoreError> {
    // In a statement of its own: counting in the same statement would see the state before the lock was acquired.
    sqlx::query_scalar!("select id from users where id = $1 for no key update", user.0)
        .fetch_optional(&mut *db)
        .await?;
    let factors = sqlx::query_as!(
        Factors,
        r#"select
               exists (select from second_factors where user_id = $1 and turned_on_at is not null) as "app!",
               (select count(*) from passkeys where user_id = $1) as "passkeys!""#,
        user.0,
    );
    Ok(factors.fetch_one(db).await?)
}

/// A user's authenticator app, in use or being set up.
pub struct StoredApp {
    /// The shared secret, wrapped by the master key.
    pub secret: Wrapped,
    /// `None` until the first code has been verified.
    pub turned_on_at: Option<OffsetDateTime>,
    /// When the setup began.
    pub inserted_at: OffsetDateTime,
}

/// Returns a user's authenticator app, in use or being set up.
pub async fn find(db: &PgPool, user: UserId) -> Result<Option<StoredApp>, StoreError> {
    let row = sqlx::query!(
        "select secret_key_id, sealed_secret, turned_on_at, inserted_at from second_factors where user_id = $1",
        user.0,
    )
    .map(|row| StoredApp {
        secret: Wrapped {
            secret_key_id: row.secret_key_id,
            sealed: row.sealed_secret,
        },
        turned_on_at: row.turned_on_at,
        inserted_at: row.inserted_at,
    });
    Ok(row.fetch_optional(db).await?)
}

/// Starts the setup of an authenticator app, replacing a setup in progress. Returns `false` if the user already has an
/// app in use.
pub async fn begin(db: &PgPool, user: UserId, secret: &Wrapped, now: OffsetDateTime) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into second_factors (user_id, secret_key_id, sealed_secret, inserted_at) values ($1, $2, $3, $4)
         on conflict on constraint second_factors_pkey do update
         set secret_key_id = excluded.secret_key_id, sealed_secret = excluded.sealed_secret,
             inserted_at = excluded.inserted_at, last_step = 0
         where second_factors.turned_on_at is null",
        user.0,
        secret.secret_key_id,
        secret.sealed,
        now,
    );
    changes_one(db, insert).await
}

/// Completes the setup, with the time step of the first code. Returns `false` if the setup was replaced or is already
/// complete.
pub async fn turn_on(
    db: &mut PgConnection,
    user: UserId,
    begun_at: OffsetDateTime,
    step: i64,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update second_factors set turned_on_at = $4, last_step = $3
         where user_id = $1 and inserted_at = $2 and turned_on_at is null",
        user.0,
        begun_at,
        step,
        now,
    );
    changes_one(db, update).await
}

/// Accepts the code of a time step. Returns `false` if that code, or one of a later step, was accepted before; of
/// concurrent attempts with the same code, one succeeds.
pub async fn take_step(db: &PgPool, user: UserId, step: i64) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update second_factors set last_step = $2 where user_id = $1 and last_step < $2 and turned_on_at is not null",
        user.0,
        step,
    );
    changes_one(db, update).await
}

/// Redeems a recovery code. Returns `false` if the user has no such code.
pub async fn take_recovery_code(db: &mut PgConnection, user: UserId, code: RecoveryDigest) -> Result<bool, StoreError> {
    let delete = sqlx::query!(
        "delete from recovery_codes where user_id = $1 and digest = $2",
        user.0,
        &code.0[..],
    );
    changes_one(db, delete).await
}

/// Returns how many recovery codes a user has left.
pub async fn count_recovery_codes(db: impl PgExecutor<'_>, user: UserId) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from recovery_codes where user_id = $1"#,
        user.0
    );
    Ok(count.fetch_one(db).await?)
}

/// Replaces all recovery codes of a user. The caller must hold the user's [`lock`].
pub async fn replace_recovery_codes(
    db: &mut PgConnection,
    user: UserId,
    codes: &[RecoveryDigest],
) -> Result<(), StoreError> {
    let digests: Vec<_> = codes.iter().map(|code| code.0.to_vec()).collect();
    delete_recovery_codes(db, user).await?;
    let insert = sqlx::query!(
        "insert into recovery_codes (user_id, digest) select $1, unnest($2::bytea[])",
        user.0,
        &digests,
    );
    execute(db, insert).await
}

/// Deletes a user's recovery codes.
pub async fn delete_recovery_codes(db: &mut PgConnection, user: UserId) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from recovery_codes where user_id = $1", user.0);
    execute(db, delete).await
}

/// Deletes a user's authenticator app, or its setup. Returns `false` if none was in use.
pub async fn delete(db: &mut PgConnection, user: UserId) -> Result<bool, StoreError> {
    let was_on = sqlx::query_scalar!(
        r#"delete from second_factors where user_id = $1 returning turned_on_at is not null as "on!""#,
        user.0,
    );
    Ok(was_on.fetch_optional(db).await?.unwrap_or_default())
}

/// Returns the secrets of all users that are wrapped by a master key other than `id`.
pub async fn list_under_others(db: &PgPool, id: &SecretKeyId) -> Result<Vec<(UserId, Wrapped)>, StoreError> {
    let rows = sqlx::query!(
        "select user_id, secret_key_id, sealed_secret from second_factors where secret_key_id <> $1",
        id.as_str(),
    )
    .map(|row| {
        let wrapped = Wrapped {
            secret_key_id: row.secret_key_id,
            sealed: row.sealed_secret,
        };
        (UserId(row.user_id), wrapped)
    });
    Ok(rows.fetch_all(db).await?)
}

/// Replaces a user's wrapped secret with a rewrapped one. Returns `false` if it is no longer `former`.
pub async fn replace(db: &PgPool, user: UserId, former: &Wrapped, new: &Wrapped) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update second_factors set secret_key_id = $3, sealed_secret = $4 where user_id = $1 and sealed_secret = $2",
        user.0,
        former.sealed,
        new.secret_key_id,
        new.sealed,
    );
    changes_one(db, update).await
}
