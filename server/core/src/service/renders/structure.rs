//! The structure of a render's document, for the dashboard. It is read from the stored document when it is viewed, in a
//! sandboxed worker process, and not stored.

use std::{fs, io, time::Duration};

use platen_domain::{
    caller::Access,
    ids::{AccountId, RenderId},
    render::{
        history::RenderMode,
        structure::{DocumentStructure, MissingStructure, RenderStructure},
    },
};
use tokio::task::{JoinError, spawn_blocking};

use crate::{
    clock,
    drawing::DrawingError,
    memory::MemoryFull,
    service::{
        Services,
        parsers::Busy,
        rate_limits::Rate,
        renders::{
            detail, history,
            thumbnails::{LARGEST_DOCUMENT, is_drawn_when_looked_at},
        },
    },
    store::{
        error::StoreError,
        renders::{documents, history::Render},
    },
};

/// Error of [`find`].
#[derive(Debug, thiserror::Error)]
pub enum StructureError {
    /// The account has viewed too many documents. Each counts as a live preview.
    #[error("too many documents were read")]
    TooMany {
        /// When the next one may be read.
        retry_after: Duration,
    },
    /// Earlier documents of the account are still being read.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// Too little memory is left.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// The document can't be read.
    #[error("document: {0}")]
    File(#[from] io::Error),
    /// The thread panicked.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the structure of a render's document as far as `access` permits, or `None` if the account has no such render.
/// Counts as a live preview, if the document is stored.
pub async fn find(
    app: &Services,
    account: AccountId,
    access: Access,
    id: RenderId,
) -> Result<Option<RenderStructure>, StructureError> {
    let Some((render, _)) = history::find(&app.db, account, id, None).await? else {
        return Ok(None);
    };
    Ok(Some(match access {
        Access::Full | Access::Suspended => RenderStructure {
            url: detail::url(&render),
            structure: read(app, account, &render).await?,
        },
        Access::Looking => RenderStructure {
            url: None,
            structure: Err(MissingStructure::Hidden),
        },
    }))
}

async fn read(
    app: &Services,
    account: AccountId,
    render: &Render,
) -> Result<Result<DocumentStructure, MissingStructure>, StructureError> {
    if let Some(missing) = elsewhere(app, render) {
        return Ok(Err(missing));
    }
    let Some(document) = documents::find_document(&app.db, account, render.id, clock::now()).await? else {
        return Ok(Err(MissingStructure::Gone));
    };
    let bytes = document.bytes.unsigned_abs();
    if bytes > LARGEST_DOCUMENT as u64 {
        return Ok(Err(MissingStructure::TooLarge));
    }
    let taken = app.rate_limits.take(account, Rate::LivePreviews).await?;
    if let Some(retry_after) = taken.refused_for {
        return Err(StructureError::TooMany { retry_after });
    }
    // Documents that wait take no memory. Memory isn't waited for: requests that wait behind this one may hold it.
    let _turn = app.document_queues.wait(account).await?;
    let _memory = app.memory.try_reserve(account, bytes)?;
    let path = app.documents.files().path(document.object);
    let pdf = spawn_blocking(move || fs::read(path)).await??;
    Ok(app.drawing.structure(account, &pdf).await.map_err(|error| match error {
        DrawingError::TooMuch(_) => MissingStructure::TooLarge,
        DrawingError::Process(_) => {
            tracing::warn!(%error, "the structure of a document could not be read");
            MissingStructure::Unreadable
        }
    }))
}

/// Returns why the service doesn't have the document; `None` if it is on the local disk, or was.
fn elsewhere(app: &Services, render: &Render) -> Option<MissingStructure> {
    if render.page_count.is_none() {
        Some(MissingStructure::NoDocument)
    } else if render.mode == RenderMode::Sync.into_str() {
        Some(MissingStructure::Returned)
    } else if render.options.get("destination").is_some() || !is_drawn_when_looked_at(app) {
        Some(MissingStructure::InBucket)
    } else {
        None
    }
}
