//! Table `exports`: exports of accounts. A trigger inserts the job of an export.

use platen_domain::{
    export::{DAY, Export, LIFETIME, MOST_A_DAY},
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
        "insert into exports (id, account_id, asked_by, state, inserted_at)
         select $3, account_id, user_id, 'waiting', $4
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

/// An export that is ready.
#[derive(Debug, Clone, Copy)]
pub struct ReadyExport {
    /// When it was requested.
    pub asked_at: OffsetDateTime,
    /// Size of the archive.
    pub bytes: i64,
}

/// Returns an export if it is ready and this user, as the account's owner, may download it.
pub async fn find_ready(
    db: &PgPool,
    account: AccountId,
    owner: UserId,
    id: ExportId,
    now: OffsetDateTime,
) -> Result<Option<ReadyExport>, StoreError> {
    let ready = sqlx::query_as!(
        ReadyExport,
        r#"select exports.inserted_at as asked_at, bytes as "bytes!"
           from exports join members on members.account_id = exports.account_id
           where exports.account_id = $1 and members.user_id = $2 and members.role = 'owner' and exports.id = $3
            and exports.state = 'ready' and exports.inserted_at > $4
            -- A process of an earlier version has written a file.
            and exists (select from export_pieces where export_id = exports.id)"#,
        account.0,
        owner.0,
        id.0,
        now - LIFETIME,
    );
    Ok(ready.fetch_optional(db).await?)
}

/// A piece of an archive, as stored.
pub struct SealedPiece {
    /// To which its encryption is bound.
    pub id: Uuid,
    /// Encrypted.
    pub sealed: Vec<u8>,
}

/// Deletes the pieces that an earlier attempt has stored, and prevents other processes from storing some until the end of the
/// transaction. Returns `false` if the export no longer waits for an archive, or if its job has another claim.
pub async fn begin_pieces(
    db: &mut PgConnection,
    account: AccountId,
    id: ExportId,
    claim: Uuid,
) -> Result<bool, StoreError> {
    let lock = sqlx::query_scalar!(
        "select id from exports
         where account_id = $1 and id = $2 and state = 'waiting'
            and exists (select from jobs where export_id = exports.id and claim = $3)
         for update",
        account.0,
        id.0,
        claim,
    );
    if lock.fetch_optional(&mut *db).await?.is_none() {
        return Ok(false);
    }
    execute(db, sqlx::query!("delete from export_pieces where export_id = $1", id.0)).await?;
    Ok(true)
}

/// Stores the next piece of an archive.
pub async fn insert_piece(
    db: &mut PgConnection,
    id: ExportId,
    number: i32,
    piece: &SealedPiece,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into export_pieces (export_id, number, id, sealed) values ($1, $2, $3, $4)",
        id.0,
        number,
        piece.id,
        piece.sealed,
    );
    execute(db, insert).await
}

/// Returns a piece of an archive of the account; `None` if it is gone.
pub async fn find_piece(
    db: &PgPool,
    account: AccountId,
    id: ExportId,
    number: i32,
) -> Result<Option<SealedPiece>, StoreError> {
    let piece = sqlx::query_as!(
        SealedPiece,
        "select pieces.id, sealed from export_pieces pieces join exports on exports.id = export_id
         where account_id = $1 and export_id = $2 and number = $3",
        account.0,
        id.0,
        number,
    );
    Ok(piece.fetch_optional(db).await?)
}

/// An export that is to be created.
#[derive(Debug, Clone, Copy)]
pub struct QueuedExport {
    pub id: ExportId,
    pub account: AccountId,
    /// When it was requested.
    pub inserted_at: OffsetDateTime,
}

/// Returns an export that is to be created.
pub async fn find(db: &PgPool, id: ExportId) -> Result<Option<QueuedExport>, StoreError> {
    let export = sqlx::query_as!(
        QueuedExport,
        "select id, account_id as account, inserted_at from exports where id = $1 and state = 'waiting'",
        id.0,
    );
    Ok(export.fetch_optional(db).await?)
}

/// Requester of an export, who is notified by mail.
#[derive(Debug, Clone)]
pub struct Asker {
    pub user: UserId,
    pub email: String,
    /// May be empty.
    pub account_name: String,
}

/// Records that an export is ready, with its size, or that it failed. Returns the requester; `None` if they no longer
/// exist.
pub async fn finish(
    db: &mut PgConnection,
    id: ExportId,
    bytes: Option<i64>,
    now: OffsetDateTime,
) -> Result<Option<Asker>, StoreError> {
    let asker = sqlx::query_as!(
        Asker,
        "with finished as (
            update exports
            set state = case when $2::bigint is null then 'failed' else 'ready' end, bytes = $2, finished_at = $3
            where id = $1 and state = 'waiting'
            returning account_id, asked_by
         )
         select users.id as user, users.email, accounts.name as account_name
         from finished
         join users on users.id = finished.asked_by
         join accounts on accounts.id = finished.account_id",
        id.0,
        bytes,
        now,
    );
    Ok(asker.fetch_optional(db).await?)
}

/// Deletes the expired exports of all accounts.
pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from exports where inserted_at <= $1 and state <> 'waiting'",
        now - LIFETIME,
    );
    execute(db, delete).await
}

/// Counts the exports that aren't finished.
pub async fn count_waiting(db: &PgPool) -> Result<i64, StoreError> {
    let waiting = sqlx::query_scalar!(r#"select count(*) as "waiting!" from exports where state = 'waiting'"#);
    Ok(waiting.fetch_one(db).await?)
}
