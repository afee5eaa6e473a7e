//! Uploads of the rows of a batch, which are stored piece by piece while they arrive.

use std::mem;

use platen_domain::{
    batch::{Batch, BatchState, RowFormat, row_reader::RowReader},
    caller::Caller,
    encryption::{DataKey, Place},
    ids::{AccountId, BatchId},
    job::JobKind,
    validation::Problem,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    clock,
    memory::Reservation,
    service::{
        Services,
        batches::{BatchError, get},
        data_keys::data_key,
    },
    store::{
        batches::{self, Piece},
        tx,
    },
};

/// Maximum number of rows of a piece, and size in bytes above which a piece is complete.
const ROWS_OF_A_PIECE: usize = 500;
const BYTES_OF_A_PIECE: usize = 1 << 20;
/// Memory of an upload in bytes: rows that are read, a piece, and its encrypted copy.
const MEMORY: u64 = 4 << 20;

/// An upload in progress. Its rows count once it is finished; an upload that isn't is replaced by the next one.
pub struct Upload<'a> {
    app: &'a Services,
    account: AccountId,
    id: BatchId,
    /// Under this id, the rows are stored. `None` if the batch has its rows already, which are only compared with these.
    storing: Option<Uuid>,
    key: DataKey,
    digest: Sha256,
    /// Rows that are not stored yet.
    rows: Vec<String>,
    /// Their size.
    bytes: usize,
    /// Number of rows that are stored.
    stored: usize,
    _memory: Reservation,
}

impl<'a> Upload<'a> {
    /// Begins an upload to a batch that is open; or has its rows, so that a repeated upload succeeds if it is the same.
    pub async fn begin(app: &'a Services, caller: &Caller, id: BatchId) -> Result<Self, BatchError> {
        let batch = get(app, caller, id).await?;
        match batch.state {
            BatchState::Open => Self::begin_known(app, caller.account, id).await,
            BatchState::Cancelled => Err(BatchError::Conflict("the batch was cancelled")),
            _ => Self::new(app, caller.account, id, None).await,
        }
    }

    /// Begins an upload to an open batch of the account.
    pub(super) async fn begin_known(app: &'a Services, account: AccountId, id: BatchId) -> Result<Self, BatchError> {
        let upload = Uuid::now_v7();
        let begun = Self::new(app, account, id, Some(upload)).await?;
        let mut transaction = tx::begin(&app.db).await?;
        batches::begin_upload(&mut transaction, account, id, upload).await?;
        tx::commit(transaction).await?;
        Ok(begun)
    }

    async fn new(
        app: &'a Services,
        account: AccountId,
        id: BatchId,
        storing: Option<Uuid>,
    ) -> Result<Self, BatchError> {
        Ok(Self {
            app,
            account,
            id,
            storing,
            key: data_key(&app.db, &app.secret_keys, account, clock::now()).await?,
            digest: Sha256::new(),
            rows: Vec::new(),
            bytes: 0,
            stored: 0,
            _memory: app.memory.reserve(account, MEMORY).await?,
        })
    }

    /// Adds rows, each a JSON object in one line.
    pub async fn add_rows(&mut self, rows: impl IntoIterator<Item = String>) -> Result<(), BatchError> {
        for row in rows {
            self.digest.update(&row);
            self.digest.update("\n");
            self.bytes += row.len() + 1;
            self.rows.push(row);
            if self.rows.len() >= ROWS_OF_A_PIECE || self.bytes >= BYTES_OF_A_PIECE {
                self.store_piece().await?;
            }
        }
        Ok(())
    }

    async fn store_piece(&mut self) -> Result<(), BatchError> {
        let rows = mem::take(&mut self.rows);
        let (first_row, count) = (self.stored + 1, rows.len());
        (self.bytes, self.stored) = (0, self.stored + count);
        let Some(upload) = self.storing.filter(|_| count > 0) else {
            return Ok(());
        };
        let id = Uuid::new_v4();
        let content = rows.join("\n").into_bytes();
        let piece = Piece {
            first_row: i32::try_from(first_row).unwrap_or(i32::MAX),
            rows: i32::try_from(count).unwrap_or(i32::MAX),
            id,
            sealed: self
                .key
                .encrypt(&Place::batch_piece(self.account, id), rand::random(), content)?,
        };
        let mut transaction = tx::begin(&self.app.db).await?;
        if !batches::insert_piece(&mut transaction, self.account, self.id, upload, &piece).await? {
            return Err(BatchError::Conflict("another upload of rows to this batch has begun"));
        }
        Ok(tx::commit(transaction).await?)
    }

    /// Ends the upload: the batch runs. Fails if the batch has other rows already.
    pub async fn finish(mut self, caller: &Caller) -> Result<Batch, BatchError> {
        self.store_piece().await?;
        let Self { app, account, id, .. } = self;
        let sha256 = self.digest.finalize();
        let Some(upload) = self.storing else {
            let known = batches::find_sha256(&app.db, account, id).await?;
            if known.as_deref() != Some(&sha256[..]) {
                return Err(BatchError::Conflict(
                    "the batch has other rows already; create another one for these",
                ));
            }
            return get(app, caller, id).await;
        };
        let mut transaction = tx::begin(&app.db).await?;
        let rows = u32::try_from(self.stored).unwrap_or(u32::MAX);
        if !batches::finish_upload(&mut transaction, account, id, upload, rows, &sha256).await? {
            return Err(BatchError::Conflict("another upload of rows to this batch has begun"));
        }
        batches::enqueue(&mut transaction, account, id).await?;
        tx::commit(transaction).await?;
        app.jobs.added(JobKind::Batch);
        get(app, caller, id).await
    }

    /// Deletes what was stored.
    pub async fn abandon(self) -> Result<(), BatchError> {
        if let Some(upload) = self.storing {
            batches::abandon_upload(&self.app.db, self.account, self.id, upload).await?;
        }
        Ok(())
    }
}

/// A file with rows that is being uploaded.
pub struct FileUpload<'a> {
    upload: Upload<'a>,
    reader: RowReader,
}

impl<'a> FileUpload<'a> {
    /// See [`Upload::begin`].
    pub async fn begin(app: &'a Services, caller: &Caller, id: BatchId, format: RowFormat) -> Result<Self, BatchError> {
        Ok(Self {
            upload: Upload::begin(app, caller, id).await?,
            reader: RowReader::new(format),
        })
    }

    /// Reads the next bytes of the file, of any number.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        let mut rows = Vec::new();
        let read = self.reader.push(bytes, &mut rows);
        read.map_err(|error| BatchError::Invalid(vec![Problem::invalid("", error.to_string())]))?;
        self.upload.add_rows(rows).await
    }

    /// See [`Upload::finish`].
    pub async fn finish(self, caller: &Caller) -> Result<Batch, BatchError> {
        let Self { mut upload, reader } = self;
        let mut rows = Vec::new();
        match reader.finish(&mut rows) {
            Ok(_) => upload.add_rows(rows).await?,
            Err(error) => {
                upload.abandon().await?;
                return Err(BatchError::Invalid(vec![Problem::invalid("", error.to_string())]));
            }
        }
        upload.finish(caller).await
    }

    /// See [`Upload::abandon`].
    pub async fn abandon(self) -> Result<(), BatchError> {
        self.upload.abandon().await
    }
}
