//! All documents of a batch in one ZIP archive, which is written while it is sent.

use std::{
    collections::VecDeque,
    io::{self, Write},
    mem,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::{Stream, stream};
use platen_domain::{
    batch::Batch,
    caller::Caller,
    ids::{AccountId, BatchId},
};
use zip::{
    CompressionMethod, ZipWriter,
    result::ZipError,
    write::{SimpleFileOptions, StreamWriter},
};

use crate::{
    clock,
    memory::{MemoryFull, Reservation},
    mutex::lock,
    service::{
        Services,
        batches::{BatchError, get},
    },
    storage::default_storage::DefaultStorageError,
    store::{
        batches::{self, StoredRow},
        error::StoreError,
    },
};

/// Documents that are looked up at a time.
const ROWS_AT_ONCE: i64 = 500;

/// Memory for an entry of the archive's directory, in bytes.
const ENTRY: u64 = 512;

/// Error while an archive is sent.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Too little memory is left for the next document.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// A document can't be read. The store's message may contain the name of the object.
    #[error("the default storage can't be read")]
    Storage(#[from] DefaultStorageError),
    /// The batch was deleted, so documents may be missing.
    #[error("the batch was deleted")]
    Deleted,
    #[error("ZIP archive: {0}")]
    Zip(#[from] ZipError),
    #[error("ZIP archive: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the documents of a batch that are in the default storage at present, as a ZIP archive in pieces. Each is named by the
/// number of its row, such as `000017.pdf`.
pub async fn archive(
    app: &Services,
    caller: &Caller,
    id: BatchId,
) -> Result<impl Stream<Item = Result<Bytes, ArchiveError>> + Send + 'static, BatchError> {
    let batch = get(app, caller, id).await?;
    let (account, written) = (caller.account, Written::default());
    let mut archive = Archive {
        app: app.clone(),
        account,
        id: batch.id,
        rows: VecDeque::new(),
        after: 0,
        zip: ZipWriter::new_stream(written.clone()),
        written,
        _directory: app
            .memory
            .try_reserve(account, ENTRY * u64::from(batch.rows.unsigned_abs()))?,
        memory: None,
    };
    if !archive.find_rows().await? {
        return Err(BatchError::Conflict(
            "the batch has no documents in the default storage",
        ));
    }
    Ok(stream::try_unfold(Some(archive), |archive| async {
        match archive {
            Some(archive) => archive.next().await,
            None => Ok(None),
        }
    }))
}

/// Returns whether documents of a batch are in the default storage.
pub async fn has_documents(app: &Services, account: AccountId, batch: &Batch) -> Result<bool, StoreError> {
    Ok(batch.succeeded > 0 && batches::has_stored(&app.db, account, batch.id, clock::now()).await?)
}

/// What was written and not sent yet.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Bytes {
        mem::take(&mut *lock(&self.0)).into()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Archive {
    app: Services,
    account: AccountId,
    id: BatchId,
    /// Rows whose documents follow.
    rows: VecDeque<StoredRow>,
    /// The last row that was looked up.
    after: i32,
    zip: ZipWriter<StreamWriter<Written>>,
    written: Written,
    /// The reservation for the directory at the end.
    _directory: Reservation,
    /// The reservation for the document that is being sent.
    memory: Option<Reservation>,
}

impl Archive {
    /// Looks up further documents. Returns `false` if there are none.
    async fn find_rows(&mut self) -> Result<bool, StoreError> {
        let found = batches::list_stored(
            &self.app.db,
            self.account,
            self.id,
            self.after,
            ROWS_AT_ONCE,
            clock::now(),
        )
        .await?;
        self.rows.extend(found);
        if let Some(last) = self.rows.back() {
            self.after = last.number;
        }
        Ok(!self.rows.is_empty())
    }

    /// Writes the next document, or the end of the archive. Returns the bytes to be sent, and the archive unless it is complete.
    async fn next(mut self) -> Result<Option<(Bytes, Option<Self>)>, ArchiveError> {
        loop {
            let Some(row) = self.rows.pop_front() else {
                if self.find_rows().await? {
                    continue;
                }
                if batches::find(&self.app.db, self.account, self.id, None)
                    .await?
                    .is_none()
                {
                    return Err(ArchiveError::Deleted);
                }
                self.zip.finish()?;
                return Ok(Some((self.written.take(), None)));
            };
            let bytes = row.bytes.unsigned_abs();
            // That of the last document, which has been sent.
            drop(self.memory.take());
            self.memory = Some(self.app.memory.reserve(self.account, 2 * bytes).await?);
            // It may have been deleted meanwhile.
            let Some(document) = self.app.documents.read(row.object, bytes).await? else {
                continue;
            };
            // PDF is compressed already.
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .large_file(true);
            self.zip.start_file(format!("{:06}.pdf", row.number), options)?;
            self.zip.write_all(&document)?;
            return Ok(Some((self.written.take(), Some(self))));
        }
    }
}
