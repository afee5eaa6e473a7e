//! Uploads of the rows of a batch, which are stored piece by piece while they arrive.

use std::{
    mem,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

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
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    clock,
    memory::Reservation,
    mutex::lock,
    service::{
        Services,
        batches::{BatchError, commit_and_advance, get, lock_controlled, room_in_queue},
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
const READ_AT_ONCE: usize = 256;
/// Maximum time to wait for a thread that reads rows. Each keeps it for milliseconds.
const THREAD_LIMIT: Duration = Duration::from_mins(1);
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

    /// Takes the rows.
    fn take(&mut self) -> Vec<String> {
        let rows = mem::take(&mut self.rows);
        (self.bytes, self.before) = (0, self.before + rows.len());
        rows
    }

    /// Takes the rows as a piece.
    fn seal(&mut self, key: &DataKey, account: AccountId) -> Result<Piece, EncryptionError> {
        let (id, first_row) = (Uuid::new_v4(), self.before + 1);
        let rows = self.take();
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
    /// In bytes, if it is announced.
    pub length: Option<u64>,
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
    let remaining = file
        .length
        .map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
    let mut upload = Upload::begin(app, caller, id, file.format, remaining, memory).await?;
    let mut content = pin!(file.content);
    while let Some(received) = content.next().await {
        let pushed = match received {
            Ok(bytes) => upload.push(bytes).await.map_err(E::from),
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
    /// Announced bytes that have not arrived.
    remaining: usize,
    /// Locked only by the thread that reads rows.
    rows: Arc<Mutex<ReadRows>>,
    _memory: Reservation,
}

/// Rows of a file, as far as it is read.
struct ReadRows {
    account: AccountId,
    /// With which pieces are encrypted; `None` if no rows are stored.
    key: Option<DataKey>,
    reader: RowReader,
    pending: PendingRows,
}

impl ReadRows {
    /// Reads from the beginning of `unread`, which it shortens, until it is empty or pieces are complete.
    fn read(&mut self, unread: &mut Bytes) -> Result<Vec<Piece>, BatchError> {
        let mut pieces = Vec::new();
        while pieces.is_empty() && !unread.is_empty() {
            let (bytes, mut rows) = (unread.split_to(READ_AT_ONCE.min(unread.len())), Vec::new());
            self.reader.push(&bytes, &mut rows).map_err(|error| malformed(&error))?;
            for row in rows {
                if self.pending.add(row) {
                    pieces.extend(self.complete()?);
                }
            }
        }
        Ok(pieces)
    }

    /// Reads the last row. Returns the last piece, and the SHA-256 and number of all rows.
    fn finish(&mut self) -> Result<(Option<Piece>, Vec<u8>, usize), BatchError> {
        let mut rows = Vec::new();
        self.reader.finish(&mut rows).map_err(|error| malformed(&error))?;
        for row in rows {
            self.pending.add(row);
        }
        let piece = if self.pending.rows.is_empty() {
            None
        } else {
            self.complete()?
        };
        let sha256 = mem::take(&mut self.pending.digest).finalize();
        Ok((piece, sha256.to_vec(), self.pending.before))
    }

    /// Takes the pending rows as a piece, if rows are stored.
    fn complete(&mut self) -> Result<Option<Piece>, EncryptionError> {
        if let Some(key) = &self.key {
            return self.pending.seal(key, self.account).map(Some);
        }
        self.pending.take();
        Ok(None)
    }
}

impl<'a> Upload<'a> {
    /// Begins an upload to a batch that is open; or has its rows, so that a repeated upload succeeds if it is the same.
    async fn begin(
        app: &'a Services,
        caller: &Caller,
        id: BatchId,
        format: RowFormat,
        remaining: usize,
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
            remaining,
            rows: Arc::new(Mutex::new(ReadRows {
                account,
                key: storing.map(|_| key),
                reader: RowReader::new(format),
                pending: PendingRows::default(),
            })),
            _memory: memory,
        })
    }

    /// Reads the next bytes of the file, of any number.
    async fn push(&mut self, mut bytes: Bytes) -> Result<(), BatchError> {
        self.remaining = self.remaining.saturating_sub(bytes.len());
        while !bytes.is_empty() {
            let mut unread = bytes;
            let read = self.on_a_thread(move |rows| rows.read(&mut unread).map(|pieces| (pieces, unread)));
            let (pieces, unread) = read.await??;
            for piece in &pieces {
                self.store_piece(piece).await?;
            }
            bytes = unread;
        }
        Ok(())
    }

    /// Reads rows when it is the account's turn.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut ReadRows) -> T + Send + 'static,
    ) -> Result<T, BatchError> {
        let rows = Arc::clone(&self.rows);
        let deadline = Instant::now() + THREAD_LIMIT;
        let reading = self
            .app
            .parsers
            .run_apart(self.account, deadline, move || read(&mut lock(&rows)));
        Ok(reading.await?)
    }

    /// Stores a piece. If the account's queue has no room for it, rows of batches that have ended are deleted, provided that this makes
    /// room for the rest of the file as well.
    async fn store_piece(&self, piece: &Piece) -> Result<(), BatchError> {
        match self.insert(piece).await {
            Err(BatchError::Store(error)) if is_queue_full(&error) => {
                let bytes = piece.sealed.len().saturating_add(self.remaining);
                room_in_queue(&self.app.db, self.account, bytes).await??;
                self.insert(piece).await
            }
            stored => stored,
        }
    }

    async fn insert(&self, piece: &Piece) -> Result<(), BatchError> {
        let Some(upload) = self.storing else { return Ok(()) };
        let mut transaction = tx::begin(&self.app.db).await?;
        if !uploads::insert_piece(&mut transaction, self.account, self.id, upload, piece).await? {
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
        let (piece, sha256, rows) = self.on_a_thread(ReadRows::finish).await??;
        if let Some(piece) = &piece {
            self.store_piece(piece).await?;
        }
        let (db, account, id) = (&self.app.db, self.account, self.id);
        let Some(upload) = self.storing else {
            let known = uploads::find_sha256(db, account, id).await?;
            return if known.as_deref() == Some(&sha256[..]) {
                Ok(())
            } else {
                Err(OTHER_ROWS)
            };
        };
        room_in_queue(db, account, ROOM_FOR_RENDERS).await??;
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
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

/// Returns whether a piece doesn't fit into the account's queue.
fn is_queue_full(error: &StoreError) -> bool {
    account_storage::full(error).is_some_and(|full| full.resource == StorageResource::QueuedBytes)
}

fn malformed(error: &RowError) -> BatchError {
    BatchError::Invalid(vec![Problem::invalid("", error.to_string())])
}
