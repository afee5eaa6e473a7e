//! All documents in one ZIP archive.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use platen_domain::{batch::Batch, ids::AccountId};
use zip::{
    CompressionMethod, ZipWriter,
    write::{SimpleFileOptions, StreamWriter},
};

use super::{Download, DownloadError, StoredDocuments};
use crate::{
    memory::Reservation,
    mutex::lock,
    service::{Services, batches::BatchError},
};

/// Memory for an entry of the archive's directory, in bytes.
const ENTRY: u64 = 512;
/// Copies of a name in memory: three of its entry, and two of the directory while it is written.
const NAME_COPIES: u64 = 5;

pub(super) async fn archive(app: &Services, account: AccountId, batch: &Batch) -> Result<Download, BatchError> {
    let documents = StoredDocuments::of(app, account, batch).await?;
    let mut directory = ENTRY * u64::from(batch.rows.unsigned_abs());
    if batch.file_names.is_some() {
        directory += NAME_COPIES * documents.size().await?.name_bytes.unsigned_abs();
    }
    let written = Written::default();
    let archive = Archive {
        _directory: app.memory.try_reserve(account, directory)?,
        documents,
        zip: ZipWriter::new_stream(written.clone()),
        written,
    };
    let pieces = stream::try_unfold(Some(archive), |archive| async {
        match archive {
            Some(archive) => archive.next().await.map(Some),
            None => Ok(None),
        }
    });
    Ok(pieces.boxed())
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
    documents: StoredDocuments,
    zip: ZipWriter<StreamWriter<Written>>,
    written: Written,
    /// The reservation for the directory at the end.
    _directory: Reservation,
}

impl Archive {
    /// Writes the next document, or the end of the archive. Returns the bytes to be sent, and the archive unless it is complete.
    async fn next(mut self) -> Result<(Bytes, Option<Self>), DownloadError> {
        let Some((row, document)) = self.documents.next().await? else {
            self.zip.finish()?;
            return Ok((self.written.take(), None));
        };
        // PDF is compressed already.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        let name = row.file_name.unwrap_or_else(|| format!("{:06}.pdf", row.number));
        self.zip.start_file(name, options)?;
        self.zip.write_all(&document)?;
        Ok((self.written.take(), Some(self)))
    }
}
