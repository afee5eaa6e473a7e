//! All documents in one PDF. An account downloads one at a time from a process, because each takes processor time, unlike an
//! archive.

use bytes::Bytes;
use futures::{StreamExt, stream};
use platen_confined::account_queues::Turn;
use platen_domain::{
    batch::Batch,
    ids::AccountId,
    number::{grouped, storage_size},
    validation::Problem,
};
use platen_pdf::collection::{Collection, MAX_BYTES, MAX_PAGES, memory_of};
use tokio::task::{JoinError, spawn_blocking};

use super::{Download, DownloadError, StoredDocuments};
use crate::{
    clock,
    memory::{MemoryFull, Reservation},
    service::{Services, batches::BatchError},
    store::batches::outcomes::StoredRow,
};

/// Memory that is reserved at a time for what the end of the file needs, in bytes.
const RECORDS_AT_ONCE: u64 = 1 << 20;

pub(super) async fn collection(app: &Services, account: AccountId, batch: &Batch) -> Result<Download, BatchError> {
    let turn = app.collections.try_begin(account).ok_or(BatchError::Conflict(
        "the account is downloading the documents of a batch as one PDF already; wait for its end, or use zip",
    ))?;
    let documents = StoredDocuments::of(app, account, batch).await?;
    let size = documents.size().await?;
    check_size(size.pages, size.bytes).map_err(|problem| BatchError::Invalid(vec![problem]))?;
    let title = match batch.name.as_str() {
        "" => format!("Batch {}", batch.id),
        name => name.to_owned(),
    };
    let download = CollectionDownload {
        documents,
        collection: Some(Collection::new(&title, clock::now())),
        records: Vec::new(),
        _turn: turn,
    };
    Ok(stream::try_unfold(download, CollectionDownload::next).boxed())
}

/// Checks that documents fit into one PDF.
fn check_size(pages: i64, bytes: i64) -> Result<(), Problem> {
    let (most_pages, most_bytes) = (i64::from(MAX_PAGES), i64::from(MAX_BYTES));
    let detail = if pages > most_pages {
        format!(
            "One PDF may have {} pages, and the documents have {}",
            grouped(most_pages),
            grouped(pages)
        )
    } else if bytes > most_bytes {
        let found = storage_size(bytes);
        format!("One PDF may have 4 GB, and the documents have {found}")
    } else {
        return Ok(());
    };
    Err(Problem::invalid(
        "/format",
        format!("{detail}; use zip, or batches of fewer rows"),
    ))
}

struct CollectionDownload {
    documents: StoredDocuments,
    /// `None` after its end.
    collection: Option<Collection>,
    /// Reservations for what the end needs, which grows with each document.
    records: Vec<Reservation>,
    _turn: Turn,
}

impl CollectionDownload {
    /// Adds the next document, or ends the file. Returns the bytes to be sent; `None` after the end.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, DownloadError> {
        if self.collection.is_none() {
            return Ok(None);
        }
        let Some((StoredRow { number: row, .. }, document)) = self.documents.next().await? else {
            let finish = |download: &mut Self| download.collection.take().map_or(Ok(Vec::new()), Collection::finish);
            let (piece, download) = self.on_a_thread(finish).await?;
            return Ok(Some((piece?.into(), download)));
        };
        let of_row = move |error| DownloadError::Document { row, error };
        let measured = document.clone();
        let (bytes, download) = self.on_a_thread(move |_| memory_of(&measured)).await?;
        let memory = download.documents.reserve(bytes.map_err(of_row)? as u64).await?;
        let add = move |download: &mut Self| {
            let _memory = memory;
            let collection = download.collection.as_mut();
            collection.map_or(Ok(Vec::new()), |collection| {
                collection.add(&document, &format!("Row {row}"))
            })
        };
        let (piece, mut download) = download.on_a_thread(add).await?;
        download.reserve_records().await?;
        Ok(Some((piece.map_err(of_row)?.into(), download)))
    }

    /// Does work on a thread, which a client that disconnects doesn't stop: turn and memory are released only when it ends.
    async fn on_a_thread<T: Send + 'static>(
        mut self,
        work: impl FnOnce(&mut Self) -> T + Send + 'static,
    ) -> Result<(T, Self), JoinError> {
        spawn_blocking(move || (work(&mut self), self)).await
    }

    async fn reserve_records(&mut self) -> Result<(), MemoryFull> {
        let bytes = self.collection.as_ref().map_or(0, Collection::memory) as u64;
        while RECORDS_AT_ONCE * (self.records.len() as u64) < bytes {
            self.records.push(self.documents.reserve(RECORDS_AT_ONCE).await?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_do_not_fit_are_refused_with_their_size() {
        let check = |pages, bytes| check_size(pages, bytes).map_err(|problem| problem.detail);
        assert_eq!(check(10_000, 1 << 30), Ok(()));
        for (pages, bytes, reason) in [
            (
                10_001,
                1,
                "One PDF may have 10,000 pages, and the documents have 10,001",
            ),
            (1, 5 << 30, "One PDF may have 4 GB, and the documents have 5 GB"),
        ] {
            let detail = format!("{reason}; use zip, or batches of fewer rows");
            assert_eq!(check(pages, bytes), Err(detail));
        }
    }
}
