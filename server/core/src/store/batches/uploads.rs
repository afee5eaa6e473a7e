//! Table `batch_pieces`: the rows of batches, as they were uploaded.

use platen_domain::{
    batch::BatchState,
    ids::{AccountId, BatchId},
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Rows as stored: whole ones, one after the other.
#[derive(Debug)]
pub struct Piece {
    /// Number of its first row.
    pub first_row: i32,
    pub rows: i32,
    /// To which its encryption is bound.
    pub id: Uuid,
    /// Encrypted.
    pub sealed: Vec<u8>,
}

/// Begins an upload of rows to an open batch, and deletes the rows of earlier uploads.
pub async fn begin(db: &mut PgConnection, account: AccountId, id: BatchId, upload: Uuid) -> Result<(), StoreError> {
    let begin = sqlx::query!(
        "update batches set upload = $3 where account_id = $1 and id = $2 and state = 'open'",
        account.0,
        id.0,
        upload,
    );
    if changes_one(&mut *db, begin).await? {
        // A statement of its own, which sees the rows that an earlier upload has just stored.
        let delete = sqlx::query!(
            "delete from batch_pieces where account_id = $1 and batch_id = $2",
            account.0,
            id.0,
        );
        execute(db, delete).await?;
    }
    Ok(())
}

/// Stores rows of an upload. Returns `false` if a later upload has begun, or the batch is no longer open.
pub async fn insert_piece(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    upload: Uuid,
    piece: &Piece,
) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "with current as (
            select id from batches where account_id = $1 and id = $2 and upload = $3 and state = 'open' for share
         )
         insert into batch_pieces (batch_id, account_id, first_row, rows, id, sealed)
         select current.id, $1, $4, $5, $6, $7 from current",
        account.0,
        id.0,
        upload,
        piece.first_row,
        piece.rows,
        piece.id,
        piece.sealed,
    );
    changes_one(db, insert).await
}

/// Ends an upload: the batch gets another state. Returns `false` if a later upload has begun, or the batch is no longer open.
pub async fn finish(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    upload: Uuid,
    (rows, sha256): (u32, &[u8]),
    state: BatchState,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update batches set state = $6, rows = $4::integer, sha256 = $5, upload = null
         where account_id = $1 and id = $2 and upload = $3 and state = 'open'
            and $4::integer = (select sum(pieces.rows) from batch_pieces pieces where pieces.batch_id = $2)",
        account.0,
        id.0,
        upload,
        i32::try_from(rows).unwrap_or(i32::MAX),
        sha256,
        state.into_str(),
    );
    changes_one(db, update).await
}

/// Deletes the rows of an upload that has failed.
pub async fn abandon(db: &PgPool, account: AccountId, id: BatchId, upload: Uuid) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from batch_pieces using batches
         where batches.account_id = $1 and batches.id = $2 and upload = $3 and state = 'open' and batch_id = batches.id",
        account.0,
        id.0,
        upload,
    );
    execute(db, delete).await
}

/// Returns the SHA-256 of a batch's rows, once they are complete.
pub async fn find_sha256(db: &PgPool, account: AccountId, id: BatchId) -> Result<Option<Vec<u8>>, StoreError> {
    let sha256 = sqlx::query_scalar!(
        "select sha256 from batches where account_id = $1 and id = $2",
        account.0,
        id.0
    );
    Ok(sha256.fetch_optional(db).await?.flatten())
}

/// Returns the piece that contains a row.
pub async fn find_piece(db: &PgPool, account: AccountId, id: BatchId, row: i32) -> Result<Option<Piece>, StoreError> {
    let piece = sqlx::query_as!(
        Piece,
        "select first_row, rows, id, sealed from batch_pieces
         where account_id = $1 and batch_id = $2 and first_row <= $3
         order by first_row desc limit 1",
        account.0,
        id.0,
        row,
    );
    let piece = piece.fetch_optional(db).await?;
    Ok(piece.filter(|piece| row - piece.first_row < piece.rows))
}
