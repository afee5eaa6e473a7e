//! Table `exports`: exports of accounts. Times of claims come from the database's clock, as in `jobs`.

use platen_domain::{
    export::{DAY, Export, LEASE, LIFETIME, MOST_A_DAY},
    failed_jobs::kept_error,
    ids::{AccountId, ExportId, UserId},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// An account has at most one export in progress.
pub const UNDER_WAY: &str = "exports_under_way";

/// Requests an export for the account's owner. Returns `false` if this user isn't the owner or has requested
/// [`MOST_A_DAY`] exports within a day. Violates [`UNDER_WAY`] if one is in progress.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    owner: UserId,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into exports (id, account_id, asked_by, state, run_at, inserted_at)
         select $3, account_id, user_id, 'waiting', now(), $4
         from members
         where account_id = $1 and user_id = $2 and role = 'owner'
            and (select count(*) from exports where account_id = $1 and inserted_at > $5) < $6",
        account.0,
        owner.0,
        ExportId::generate().0,
        now,
        now - DAY,
        MOST_A_DAY,
    );
    changes_one(db, insert).await
}

/// Returns an account's exports that haven't expired, newest first.
pub async fn list(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<Export>, StoreError> {
    let exports = sqlx::query_as!(
        Export,
        "select id, state, bytes, inserted_at from exports
         where account_id = $1 and inserted_at > $2
         order by id desc",
        account.0,
        now - LIFETIME,
    );
    Ok(exports.fetch_all(db).await?)
}

/// Returns when an export was requested, if it is ready and this user, as the account's owner, may download it.
pub async fn find_ready(
    db: &PgPool,
    account: AccountId,
    owner: UserId,
    id: ExportId,
    now: OffsetDateTime,
) -> Result<Option<OffsetDateTime>, StoreError> {
    let asked_at = sqlx::query_scalar!(
        "select exports.inserted_at from exports join members on members.account_id = exports.account_id
         where exports.account_id = $1 and members.user_id = $2 and members.role = 'owner' and exports.id = $3
            and exports.state = 'ready' and exports.inserted_at > $4",
        account.0,
        owner.0,
        id.0,
        now - LIFETIME,
    );
    Ok(asked_at.fetch_optional(db).await?)
}

/// An export that a worker holds.
#[derive(Debug, Clone, Copy)]
pub struct ClaimedExport {
    pub id: ExportId,
    pub account: AccountId,
    /// Identifies the claim.
    pub claim: Uuid,
    /// Failed attempts before this one.
    pub failures: i32,
    /// When it was requested.
    pub inserted_at: OffsetDateTime,
}

/// Claims the export that has waited longest. An export held by a dead process can be claimed again when its lease
/// ends.
pub async fn claim(db: &PgPool) -> Result<Option<ClaimedExport>, StoreError> {
    let row = sqlx::query!(
        r#"update exports
           set claim = gen_random_uuid(), lease_until = now() + $1::float8 * interval '1 s', tries = tries + 1
           where id = (
               select id from exports
               where state = 'waiting' and run_at <= now() and (claim is null or lease_until < now())
               order by run_at, id
               limit 1
               for update skip locked
           )
           returning id, account_id, claim as "claim!", tries, inserted_at"#,
        LEASE.as_secs_f64(),
    )
    .map(|row| ClaimedExport {
        id: ExportId(row.id),
        account: AccountId(row.account_id),
        claim: row.claim,
        failures: row.tries - 1,
        inserted_at: row.inserted_at,
    });
    Ok(row.fetch_optional(db).await?)
}

/// Renews the lease of an export. Returns `false` if another worker holds it, or if it was deleted.
pub async fn renew(db: &PgPool, export: &ClaimedExport) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update exports set lease_until = now() + $3::float8 * interval '1 s' where id = $1 and claim = $2",
        export.id.0,
        export.claim,
        LEASE.as_secs_f64(),
    );
    changes_one(db, update).await
}

/// Releases an export for a retry after `delay_seconds`. `failure` is the reason why the attempt failed; an attempt
/// without one was interrupted and doesn't count.
pub async fn release(
    db: &PgPool,
    export: &ClaimedExport,
    delay_seconds: f64,
    failure: Option<&str>,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update exports
         set claim = null, lease_until = null, run_at = now() + $3::float8 * interval '1 s',
             tries = $4 + ($5::text is not null)::integer,
             failed_at = case when $5::text is null then failed_at else now() end, last_error = coalesce($5, last_error)
         where id = $1 and claim = $2",
        export.id.0,
        export.claim,
        delay_seconds,
        export.failures,
        failure.map(kept_error),
    );
    execute(db, update).await
}

/// Requester of an export, who is notified by mail.
#[derive(Debug, Clone)]
pub struct Asker {
    pub user: UserId,
    pub email: String,
    /// May be empty.
    pub account_name: String,
}

/// Records that an export is ready, with its size, or why it failed. Returns the requester. `None` if another worker
/// holds the export, or if its requester no longer exists.
pub async fn finish(
    db: &mut PgConnection,
    export: &ClaimedExport,
    outcome: Result<i64, &str>,
    now: OffsetDateTime,
) -> Result<Option<Asker>, StoreError> {
    let (bytes, failure) = (outcome.ok(), outcome.err());
    let asker = sqlx::query_as!(
        Asker,
        "with finished as (
            update exports
            set state = case when $3::bigint is null then 'failed' else 'ready' end, bytes = $3, finished_at = $4,
                claim = null, lease_until = null, last_error = $5,
                failed_at = case when $5::text is not null then now() end
            where id = $1 and claim = $2
            returning account_id, asked_by
         )
         select users.id as user, users.email, accounts.name as account_name
         from finished
         join users on users.id = finished.asked_by
         join accounts on accounts.id = finished.account_id",
        export.id.0,
        export.claim,
        bytes,
        now,
        failure.map(kept_error),
    );
    Ok(asker.fetch_optional(db).await?)
}

/// Returns whether an export still exists; it is deleted with its account.
pub async fn exists(db: &PgPool, id: ExportId) -> Result<bool, StoreError> {
    let exists = sqlx::query_scalar!(
        r#"select exists (select from exports where id = $1) as "exists!""#,
        id.0
    );
    Ok(exists.fetch_one(db).await?)
}

/// Deletes the expired exports of all accounts and returns their ids.
pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<Vec<ExportId>, StoreError> {
    let ids = sqlx::query_scalar!(
        "delete from exports where inserted_at <= $1 and state <> 'waiting' returning id",
        now - LIFETIME,
    );
    Ok(ids.fetch_all(db).await?.into_iter().map(ExportId).collect())
}

/// Counts the exports that aren't finished.
pub async fn count_waiting(db: &PgPool) -> Result<i64, StoreError> {
    let waiting = sqlx::query_scalar!(r#"select count(*) as "waiting!" from exports where state = 'waiting'"#);
    Ok(waiting.fetch_one(db).await?)
}
