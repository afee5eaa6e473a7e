//! Uploads of the rows of a batch, which are stored piece by piece while they arrive.

use std::{mem, pin::pin};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use platen_domain::{
    batch::{
        Batch, BatchState, RowFormat,
        row_reader::{RowError, RowReader},
    },
    caller::Caller,
    encryption::{DataKey, EncryptionError, Place},
    ids::{AccountId, BatchId},
    storage::StorageResource,
    validation::Problem,
};
use sha2::{Digest, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    clock,
    memory::Reservation,
    service::{
        Services,
        batches::{BatchError, commit_and_advance, get, lock_controlled},
        data_keys::data_key,
    },
    store::{
        account_storage,
        batches::uploads::{self, Piece},
        error::StoreError,
        jobs, tx,
    },
};

/// Maximum number of rows of a piece, and size in bytes above which a piece is complete.
const ROWS_OF_A_PIECE: usize = 500;
const BYTES_OF_A_PIECE: usize = 1 << 20;
/// Bytes that are read at a time, because rows of CSV can be much larger as JSON.
const READ_AT_ONCE: usize = 512;
/// Memory of an upload in bytes: rows that are read, a piece, and its encrypted copy.
pub(super) const MEMORY: u64 = 8 << 20;
/// Room that the rows of a batch leave for the requests of its renders, in bytes.
pub(super) const ROOM_FOR_RENDERS: usize = 4 << 20;
const REPLACED: BatchError = BatchError::Conflict(
    "the batch was cancelled, or another upload of rows to it has begun; check its state before you upload again",
);
const CANCELLED: BatchError = BatchError::Conflict("the batch was cancelled");
const OTHER_ROWS: BatchError = BatchError::Conflict("the batch has other rows already; create another one for these");

/// Rows that have not been sealed yet.
#[derive(Default)]
struct PendingRows {
    rows: Vec<String>,
    bytes: usize,
    /// Number of rows before them.
    before: usize,
    digest: Sha256,
}

impl PendingRows {
    /// Adds a row, a JSON object in one line. Returns whether the rows make a piece.
    fn add(&mut self, row: String) -> bool {
        self.digest.update(&row);
        self.digest.update("\n");
        self.bytes += row.len() + 1;
        self.rows.push(row);
        self.rows.len() >= ROWS_OF_A_PIECE || self.bytes >= BYTES_OF_A_PIECE
    }

    /// Takes the rows as a piece.
    fn seal(&mut self, key: &DataKey, account: AccountId) -> Result<Piece, EncryptionError> {
        let rows = mem::take(&mut self.rows);
        let (id, first_row) = (Uuid::new_v4(), self.before + 1);
        (self.bytes, self.before) = (0, self.before + rows.len());
        Ok(Piece {
            first_row: i32::try_from(first_row).unwrap_or(i32::MAX),
            rows: i32::try_from(rows.len()).unwrap_or(i32::MAX),
            id,
            sealed: key.encrypt(
                &Place::batch_piece(account, id),
                rand::random(),
                rows.join("\n").into_bytes(),
            )?,
        })
    }
}

/// All rows of a batch, encrypted.
pub(super) struct SealedRows {
    pieces: Vec<Piece>,
    count: usize,
    sha256: Vec<u8>,
}

impl SealedRows {
    /// Encrypts the rows of a request.
    pub(super) fn seal(key: &DataKey, account: AccountId, rows: Vec<String>) -> Result<Self, EncryptionError> {
        let (mut pending, mut pieces) = (PendingRows::default(), Vec::new());
        for row in rows {
            if pending.add(row) {
                pieces.push(pending.seal(key, account)?);
            }
        }
        if !pending.rows.is_empty() {
            pieces.push(pending.seal(key, account)?);
        }
        Ok(Self {
            pieces,
            count: pending.before,
            sha256: pending.digest.finalize().to_vec(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns their size in bytes, as they are stored.
    pub(super) fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.sealed.len()).sum()
    }

    /// Stores the rows of a batch that was inserted in the same transaction. It runs.
    pub(super) async fn store(self, db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<(), StoreError> {
        let upload = Uuid::now_v7();
        uploads::begin(db, account, id, upload).await?;
        for piece in &self.pieces {
            uploads::insert_piece(db, account, id, upload, piece).await?;
        }
        let rows = u32::try_from(self.count).unwrap_or(u32::MAX);
        uploads::finish(db, account, id, upload, (rows, &self.sha256[..]), BatchState::Running).await?;
        jobs::advance_batch_now(db, account, id).await.map(drop)
    }
}

/// What follows a complete upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterUpload {
    /// The batch runs.
    Begin,
    /// The batch is paused before its first row, so that its rows can be checked.
    Check,
}

/// Checks that the caller may upload rows to a batch, unless it has other rows already.
pub(super) async fn check(app: &Services, caller: &Caller, id: BatchId) -> Result<(), BatchError> {
    let mut transaction = tx::begin(&app.db).await?;
    match lock_controlled(&mut transaction, caller, id).await?.state {
        BatchState::Cancelled => Err(CANCELLED),
        BatchState::Open | BatchState::Running | BatchState::Paused | BatchState::Ended => Ok(()),
    }
}

/// A file with the rows of a batch.
pub struct RowsFile<Content> {
    pub format: RowFormat,
    pub after_upload: AfterUpload,
    /// The file while it arrives.
    pub content: Content,
}

/// Stores the rows of a file while it arrives, and then begins the batch, or pauses it. If the file breaks off or a row is
/// malformed, nothing is stored.
pub async fn store<E: From<BatchError>>(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    file: RowsFile<impl Stream<Item = Result<Bytes, E>>>,
) -> Result<Batch, E> {
    let memory = app.memory.reserve(caller.account, MEMORY).await;
    store_within(app, caller, id, file, memory.map_err(BatchError::from)?).await
}

/// As [`store`], in memory that is reserved already.
pub(super) async fn store_within<E: From<BatchError>>(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    file: RowsFile<impl Stream<Item = Result<Bytes, E>>>,
    memory: Reservation,
) -> Result<Batch, E> {
    let mut upload = Upload::begin(app, caller, id, file.format, memory).await?;
    let mut content = pin!(file.content);
    while let Some(received) = content.next().await {
        let pushed = match received {
            Ok(bytes) => upload.push(&bytes).await.map_err(E::from),
            Err(error) => Err(error),
        };
        if let Err(error) = pushed {
            upload.abandon().await?;
            return Err(error);
        }
    }
    Ok(upload.finish(caller, file.after_upload).await?)
}

/// A file with rows that is being uploaded. Its rows count once it is finished; an upload that isn't is replaced by the next one.
struct Upload<'a> {
    app: &'a Services,
    account: AccountId,
    id: BatchId,
    /// Under this id, the rows are stored. `None` if the batch has its rows already, which are only compared with these.
    storing: Option<Uuid>,
    key: DataKey,
    reader: RowReader,
    pending: PendingRows,
    _memory: Reservation,
}

impl<'a> Upload<'a> {
    /// Begins an upload to a batch that is open; or has its rows, so that a repeated upload succeeds if it is the same.
    async fn begin(
        app: &'a Services,
        caller: &Caller,
        id: BatchId,
        format: RowFormat,
        memory: Reservation,
    ) -> Result<Self, BatchError> {
        let account = caller.account;
        let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
        let mut transaction = tx::begin(&app.db).await?;
        let storing = match lock_controlled(&mut transaction, caller, id).await?.state {
            BatchState::Open => {
                let upload = Uuid::now_v7();
                uploads::begin(&mut transaction, account, id, upload).await?;
                Some(upload)
            }
            BatchState::Cancelled => return Err(CANCELLED),
            BatchState::Running | BatchState::Paused | BatchState::Ended => None,
        };
        tx::commit(transaction).await?;
        Ok(Self {
            app,
            account,
            id,
            storing,
            key,
            reader: RowReader::new(format),
            pending: PendingRows::default(),
            _memory: memory,
        })
    }

    /// Reads the next bytes of the file, of any number.
    async fn push(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        for bytes in bytes.chunks(READ_AT_ONCE) {
            let mut rows = Vec::new();
            self.reader.push(bytes, &mut rows).map_err(|error| malformed(&error))?;
            for row in rows {
                if self.pending.add(row) {
                    self.store_piece().await?;
                }
            }
        }
        Ok(())
    }

    async fn store_piece(&mut self) -> Result<(), BatchError> {
        let piece = self.pending.seal(&self.key, self.account)?;
        let Some(upload) = self.storing else { return Ok(()) };
        let mut transaction = tx::begin(&self.app.db).await?;
        if !uploads::insert_piece(&mut transaction, self.account, self.id, upload, &piece).await? {
            return Err(REPLACED);
        }
        Ok(tx::commit(transaction).await?)
    }

    /// Ends the upload. Fails if the batch has other rows already, or if the rows leave no room for renders.
    async fn finish(mut self, caller: &Caller, after: AfterUpload) -> Result<Batch, BatchError> {
        let ended = self.end(after).await;
        if ended.is_err() {
            self.abandon().await?;
        }
        ended?;
        get(self.app, caller, self.id).await
    }

    async fn end(&mut self, after: AfterUpload) -> Result<(), BatchError> {
        let mut rows = Vec::new();
        self.reader.finish(&mut rows).map_err(|error| malformed(&error))?;
        for row in rows {
            self.pending.add(row);
        }
        if !self.pending.rows.is_empty() {
            self.store_piece().await?;
        }
        let (db, account, id) = (&self.app.db, self.account, self.id);
        let sha256 = self.pending.digest.clone().finalize();
        let Some(upload) = self.storing else {
            let known = uploads::find_sha256(db, account, id).await?;
            return if known.as_deref() == Some(&sha256[..]) {
                Ok(())
            } else {
                Err(OTHER_ROWS)
            };
        };
        let storage = account_storage::find(db, account).await?;
        storage.room_for(StorageResource::QueuedBytes, ROOM_FOR_RENDERS)?;
        let rows = u32::try_from(self.pending.before).unwrap_or(u32::MAX);
        let state = match after {
            AfterUpload::Begin => BatchState::Running,
            AfterUpload::Check => BatchState::Paused,
        };
        let mut transaction = tx::begin(db).await?;
        if !uploads::finish(&mut transaction, account, id, upload, (rows, &sha256[..]), state).await? {
            return Err(REPLACED);
        }
        Ok(commit_and_advance(self.app, transaction, account, id).await?)
    }

    /// Deletes what was stored.
    async fn abandon(&self) -> Result<(), BatchError> {
        if let Some(upload) = self.storing {
            uploads::abandon(&self.app.db, self.account, self.id, upload).await?;
        }
        Ok(())
    }
}

fn malformed(error: &RowError) -> BatchError {
    BatchError::Invalid(vec![Problem::invalid("", error.to_string())])
}
