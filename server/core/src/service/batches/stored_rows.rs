//! The rows of a batch as they were sent, and the requests that they complete.

use std::{mem, sync::Arc};

use platen_domain::{
    batch::{columns::ColumnMapping, file_name, path_pattern, row_reader::row_problem},
    callback::CallbackTarget,
    destination::Destination,
    encryption::{DataKey, Place},
    ids::{AccountId, BatchId},
};
use serde_json::{Value, value::RawValue};
use tokio::task::spawn_blocking;

use crate::{
    clock,
    render_request::stored::StoredRequest,
    service::{
        Services,
        batches::BatchError,
        connections::delivery::{CoveringError, covering},
        data_keys::data_key,
    },
    store::batches::{rows::Work, uploads},
};

/// Memory for reading a row, in bytes: the piece that contains it, encrypted, decrypted and in lines.
pub(super) const MEMORY: u64 = 4 << 20;

/// Maximum size of the parts of a row's request, in bytes: of the largest row and the largest request of a batch, twice.
const LARGEST_COMPLETED: usize = 1 << 20;

/// A row that can be rendered.
pub(super) struct CompletedRow {
    pub(super) request: StoredRequest,
    /// Name of its document in the archive.
    pub(super) file_name: Option<String>,
}

/// Reads rows of a batch. The piece that was read last is held.
pub(super) struct StoredRows<'a> {
    app: &'a Services,
    account: AccountId,
    id: BatchId,
    pub(super) key: Arc<DataKey>,
    /// The request that each row completes.
    pub(super) request: StoredRequest,
    /// Whether rows fill placeholders of its parts. Batches of earlier releases contain braces as text.
    fills_parts: bool,
    /// The webhook of each row.
    pub(super) callback: Option<CallbackTarget>,
    /// Members of the data that columns of the rows become.
    columns: ColumnMapping,
    /// Pattern of the names of documents in their archive.
    file_names: Option<String>,
    /// The rows of the piece that was read last, from this one.
    piece: (i32, Vec<String>),
    /// Prefix of the connection that was found last. It covers most paths that follow.
    path_prefix: Option<String>,
}

impl<'a> StoredRows<'a> {
    /// Takes the encrypted content from `work`.
    pub(super) async fn open(
        app: &'a Services,
        account: AccountId,
        id: BatchId,
        work: &mut Work,
    ) -> Result<Self, BatchError> {
        let key = Arc::new(data_key(&app.db, &app.secret_keys, account, clock::now()).await?);
        let (opening, version) = (Arc::clone(&key), work.request.version);
        let (sealed, callback) = (mem::take(&mut work.request.sealed), work.request.callback.take());
        let opened = spawn_blocking(move || {
            let request = opening.decrypt(&Place::batch_request(account, id), sealed)?;
            let callback = callback.map(|callback| opening.decrypt(&Place::batch_callback(account, id), callback));
            let callback = callback.transpose()?.map(|callback| serde_json::from_slice(&callback));
            Ok::<_, BatchError>((StoredRequest::from_bytes(version, &request)?, callback.transpose()?))
        });
        let (mut request, callback) = opened.await??;
        request.render.set_versions(&work.request.options);
        Ok(Self {
            app,
            account,
            id,
            key,
            request,
            fills_parts: version == StoredRequest::PATTERN_VERSION,
            callback,
            columns: work.columns.clone(),
            file_names: work.file_names.clone(),
            piece: (0, Vec::new()),
            path_prefix: None,
        })
    }

    /// Returns a row as it was sent.
    pub(super) async fn row(&mut self, number: i32) -> Result<String, BatchError> {
        let known = |(first, rows): &(i32, Vec<String>)| {
            let index = usize::try_from(number - first).ok()?;
            rows.get(index).cloned()
        };
        if let Some(row) = known(&self.piece) {
            return Ok(row);
        }
        let piece = uploads::find_piece(&self.app.db, self.account, self.id, number).await?;
        let piece = piece.ok_or(BatchError::RowLost(number))?;
        let (key, account) = (Arc::clone(&self.key), self.account);
        let opening = spawn_blocking(move || {
            let content = key.decrypt(&Place::batch_piece(account, piece.id), piece.sealed)?;
            let rows = String::from_utf8_lossy(&content)
                .lines()
                .map(ToOwned::to_owned)
                .collect();
            Ok::<_, BatchError>((piece.first_row, rows))
        });
        self.piece = opening.await??;
        known(&self.piece).ok_or(BatchError::RowLost(number))
    }

    /// Returns the request that a row completes; or why it can't be rendered.
    pub(super) async fn complete(&mut self, row: String) -> Result<Result<CompletedRow, String>, BatchError> {
        // Objects with names that the parser reserves are refused only when they are built.
        let unreadable = |error| Ok(Err(format!("The row can't be read: {error}")));
        let row = match self.columns.applied_to(row) {
            Ok(row) => row,
            Err(error) => return unreadable(error),
        };
        // Columns may have become members that are nested more deeply, or have longer names.
        if let Some(reason) = row_problem(&row) {
            return Ok(Err(reason));
        }
        let row = RawValue::from_string(row)?;
        let has_patterns = self.fills_parts || self.request.destination.is_some() || self.file_names.is_some();
        let members = if has_patterns {
            match serde_json::from_str(row.get()) {
                Ok(members) => members,
                Err(error) => return unreadable(error),
            }
        } else {
            Value::Null
        };
        let destination = match self.request.destination.clone() {
            Some(pattern) => match self.destination(pattern, &members).await? {
                Ok(destination) => Some(destination),
                Err(reason) => return Ok(Err(reason)),
            },
            None => None,
        };
        let file_name = match &self.file_names {
            Some(pattern) => match file_name::fill(pattern, &members) {
                Ok(name) => Some(name),
                Err(reason) => return Ok(Err(reason)),
            },
            None => None,
        };
        let mut render = self.request.render.with_row(&row);
        if self.fills_parts
            && let Err(reason) = render.fill(&members)
        {
            return Ok(Err(reason));
        }
        let bytes = render.bytes_of_parts();
        if bytes > LARGEST_COMPLETED {
            return Ok(Err(format!(
                "The parts of the document have {} KiB with the data of the row, which each template without a context receives; they \
                 may have {} KiB",
                bytes.div_ceil(1 << 10),
                LARGEST_COMPLETED >> 10
            )));
        }
        let request = StoredRequest { render, destination };
        Ok(Ok(CompletedRow { request, file_name }))
    }

    async fn destination(
        &mut self,
        pattern: Destination,
        row: &Value,
    ) -> Result<Result<Destination, String>, BatchError> {
        let path = match path_pattern::fill(&pattern.path, row) {
            Ok(path) => path,
            Err(reason) => return Ok(Err(reason)),
        };
        let destination = Destination { path, ..pattern };
        if let Some(problem) = destination.problems("").pop() {
            return Ok(Err(problem.detail));
        }
        // Only the whole path can be held against the connections' prefixes.
        let is_covered = |prefix: &String| destination.path.starts_with(prefix);
        if self.path_prefix.as_ref().is_some_and(is_covered) {
            return Ok(Ok(destination));
        }
        match covering(&self.app.buckets, self.account, &destination).await {
            Ok(connection) => {
                self.path_prefix = Some(connection.settings.path_prefix);
                Ok(Ok(destination))
            }
            Err(CoveringError::Store(error)) => Err(error.into()),
            Err(uncovered) => Ok(Err(uncovered.to_string())),
        }
    }
}
