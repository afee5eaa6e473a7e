//! All documents of a batch in one file, which is written while it is sent.

mod archive;
mod collection;

use std::{collections::VecDeque, io};

use bytes::Bytes;
use futures::stream::BoxStream;
use platen_domain::{
    batch::{Batch, DocumentsFormat},
    caller::Caller,
    ids::{AccountId, BatchId},
};
use platen_pdf::{PdfError, collection::MAX_PAGES};
use time::OffsetDateTime;
use tokio::task::JoinError;
use zip::result::ZipError;

use crate::{
    clock,
    memory::{MemoryFull, Reservation},
    service::{
        Services,
        batches::{BatchError, get},
    },
    storage::default_storage::DefaultStorageError,
    store::{
        batches::{
            self,
            outcomes::{self, StoredRow, StoredSize},
        },
        error::StoreError,
        renders,
    },
};

/// Documents that are looked up at a time.
const ROWS_AT_ONCE: i64 = 500;

/// Error while documents are sent.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// Too little memory is left for the next document.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// A document can't be read. The store's message may contain the name of the object.
    #[error("the default storage can't be read")]
    Storage(#[from] DefaultStorageError),
    /// The batch was deleted, so documents may be missing.
    #[error("the batch was deleted")]
    Deleted,
    /// A document that has not expired is not in the default storage.
    #[error("the document of row {0} is missing from the default storage")]
    Missing(i32),
    #[error("ZIP archive: {0}")]
    Zip(#[from] ZipError),
    #[error("ZIP archive: {0}")]
    Write(#[from] io::Error),
    /// A document can't be collected, or there are too many.
    #[error("one PDF, at row {row}: {error}")]
    Document { row: i32, error: PdfError },
    /// The end can't be written.
    #[error("one PDF: {0}")]
    Pdf(#[from] PdfError),
    /// The thread that collected documents panicked.
    #[error("one PDF: {0}")]
    Interrupted(#[from] JoinError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file in pieces.
pub type Download = BoxStream<'static, Result<Bytes, DownloadError>>;

/// Returns the documents of a batch that are in the default storage at present, in the order of their rows. In an archive, each is
/// named by the pattern of the batch or, without one, by the number of its row, such as `000017.pdf`; one PDF has an entry in its
/// outline for each.
///
/// # Errors
/// Returns [`BatchError::Conflict`] if there are no documents, or if the account is downloading one PDF from this process already,
/// and [`BatchError::Invalid`] if the documents have too many pages for it.
pub async fn download(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    format: DocumentsFormat,
) -> Result<Download, BatchError> {
    let batch = get(app, caller, id).await?;
    match format {
        DocumentsFormat::Zip => archive::archive(app, caller.account, &batch).await,
        DocumentsFormat::Pdf => collection::collection(app, caller.account, &batch).await,
    }
}

/// Returns whether documents of a batch are in the default storage.
pub async fn has_documents(app: &Services, account: AccountId, batch: &Batch) -> Result<bool, BatchError> {
    Ok(batch.succeeded > 0 && outcomes::has_stored(&app.db, account, batch.id, clock::now()).await?)
}

/// Returns whether the documents of a batch may fit into one PDF, by the number of its rows: each has a page at least.
pub fn may_be_collected(batch: &Batch) -> bool {
    batch.succeeded <= i32::from(MAX_PAGES)
}

/// The documents that a batch has at the beginning of a download, one after the other.
struct StoredDocuments {
    app: Services,
    account: AccountId,
    id: BatchId,
    /// Documents that are finished later are left out.
    until: OffsetDateTime,
    /// Rows whose documents follow.
    rows: VecDeque<StoredRow>,
    /// The last row that was looked up.
    after: i32,
    /// The reservation for the document that is being sent.
    memory: Option<Reservation>,
}

impl StoredDocuments {
    /// Fails if there are none.
    async fn of(app: &Services, account: AccountId, batch: &Batch) -> Result<Self, BatchError> {
        // The clocks of the processes that finished documents may be ahead.
        let now = clock::now();
        let last = outcomes::last_finished(&app.db, account, batch.id).await?;
        let mut documents = Self {
            app: app.clone(),
            account,
            id: batch.id,
            until: last.map_or(now, |last| last.max(now)),
            rows: VecDeque::new(),
            after: 0,
            memory: None,
        };
        if documents.find_rows().await? {
            Ok(documents)
        } else {
            Err(BatchError::Conflict(
                "the batch has no documents in the default storage",
            ))
        }
    }

    /// Returns the size of all.
    async fn size(&self) -> Result<StoredSize, StoreError> {
        outcomes::measure_stored(&self.app.db, self.account, self.id, self.until, clock::now()).await
    }

    /// Looks up further documents. Returns `false` if there are none.
    async fn find_rows(&mut self) -> Result<bool, StoreError> {
        let found = outcomes::list_stored(
            &self.app.db,
            self.account,
            self.id,
            self.after,
            ROWS_AT_ONCE,
            self.until,
            clock::now(),
        )
        .await?;
        self.rows.extend(found);
        if let Some(last) = self.rows.back() {
            self.after = last.number;
        }
        Ok(!self.rows.is_empty())
    }

    /// Reserves memory besides that for the next document.
    async fn reserve(&self, bytes: u64) -> Result<Reservation, MemoryFull> {
        self.app.memory.reserve(self.account, bytes).await
    }

    /// Returns the next document and its row; `None` after the last one. Until the next call, twice its size is reserved.
    async fn next(&mut self) -> Result<Option<(StoredRow, Bytes)>, DownloadError> {
        loop {
            let Some(row) = self.rows.pop_front() else {
                if self.find_rows().await? {
                    continue;
                }
                let batch = batches::find(&self.app.db, self.account, self.id, None).await?;
                return batch.map(|_| None).ok_or(DownloadError::Deleted);
            };
            let bytes = row.bytes.unsigned_abs();
            // That of the last document, which has been sent.
            drop(self.memory.take());
            self.memory = Some(self.app.memory.reserve(self.account, 2 * bytes).await?);
            if let Some(document) = self.app.documents.read(row.object, bytes).await? {
                return Ok(Some((row, document)));
            }
            // Without it, the file would be valid, but incomplete, unless the document has expired meanwhile.
            let stored = renders::documents::find_object(&self.app.db, self.account, row.render, clock::now());
            if stored.await?.is_some() {
                return Err(DownloadError::Missing(row.number));
            }
        }
    }
}
