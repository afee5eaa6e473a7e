//! Previews of rows of a batch. Nothing is charged or stored.

use std::time::Duration;

use platen_domain::{batch::BatchState, caller::Caller, ids::BatchId};
use platen_engine::{job::Lane, render_log::RenderLog};
use platen_pdf::Watermark;

use crate::{
    clock,
    memory::Reservation,
    render_request::stored::StoredRequest,
    service::{
        Services,
        batches::{
            BatchError, get,
            stored_rows::{self, CompletedRow, StoredRows},
        },
        rate_limits::Rate,
        renders::{engine_caller, failure::FailureReason, make_unrecorded, terms_while_waiting},
    },
    store::{batches::rows, error::StoreError},
};

const NOT_UNDER_WAY: BatchError = BatchError::Conflict("only rows of a batch that runs or is paused can be previewed");

/// The document of a row, with the watermark of previews because it costs no credits.
pub struct RowPreview {
    pub pdf: Vec<u8>,
    /// Path of the row's document in a client's bucket, or its name in the archive; `None` if it is named by the row's number.
    pub name: Option<String>,
    /// Reserves memory for the document until it is sent.
    pub memory: Reservation,
}

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
pub enum RowPreviewError {
    /// The account's limit of live previews is reached.
    #[error("too many previews")]
    TooMany {
        /// Time until the next preview is allowed.
        retry_after: Duration,
    },
    /// The batch has only so many rows.
    #[error("the batch has {0} rows")]
    NoSuchRow(i32),
    /// The row can't be rendered, for this reason.
    #[error("{0}")]
    Row(String),
    /// The row can't be read.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The row's document can't be made.
    #[error(transparent)]
    Render(#[from] FailureReason),
}

impl From<StoreError> for RowPreviewError {
    fn from(error: StoreError) -> Self {
        Self::Batch(error.into())
    }
}

/// Renders a row of a batch that has not ended, like a synchronous render. Rows are numbered from 1. Counts as a live preview.
pub async fn pdf(app: &Services, caller: &Caller, id: BatchId, row: i32) -> Result<RowPreview, RowPreviewError> {
    let account = caller.account;
    get(app, caller, id).await?;
    let work = rows::find_work(&app.db, account, id, 0, clock::now()).await?;
    let mut work = work.ok_or(BatchError::NotFound)?;
    if !matches!(work.state, BatchState::Running | BatchState::Paused) {
        return Err(NOT_UNDER_WAY.into());
    }
    if !(1..=work.rows).contains(&row) {
        return Err(RowPreviewError::NoSuchRow(work.rows));
    }
    let taken = app.rate_limits.take(account, Rate::LivePreviews).await?;
    if let Some(retry_after) = taken.refused_for {
        return Err(RowPreviewError::TooMany { retry_after });
    }
    let memory = app.memory.reserve(account, stored_rows::MEMORY).await;
    let mut memory = memory.map_err(BatchError::from)?;
    let mut rows = StoredRows::open(app, account, id, &mut work).await?;
    let row = rows.row(row).await?;
    let completed = rows.complete(row).await?;
    drop(rows);
    let CompletedRow { request, file_name } = completed.map_err(RowPreviewError::Row)?;
    let StoredRequest { render, destination } = request;
    let terms = terms_while_waiting(app, caller, Lane::Preview, Some(Watermark::Preview));
    let (caller, log) = (engine_caller(caller), RenderLog::default());
    let document = make_unrecorded(app, caller, render, terms, &mut memory, &log, None).await?;
    memory.shrink_to(document.pdf.len() as u64);
    Ok(RowPreview {
        pdf: document.pdf,
        name: destination.map(|destination| destination.path).or(file_name),
        memory,
    })
}
