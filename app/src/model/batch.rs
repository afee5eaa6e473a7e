//! The pages of batches.

use platen_domain::{
    batch::{Batch, RowState, columns::BatchColumns},
    ids::{ConnectionId, RenderId, TemplateId},
};
use serde::{Deserialize, Serialize};

/// A batch, as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchDetail {
    pub batch: Batch,
    /// The first rows that have been opened.
    pub first_rows: Vec<ListedRow>,
    /// The first failed rows.
    pub failed_rows: Vec<ListedRow>,
    /// Whether failed rows can be opened again.
    pub can_retry: bool,
    /// Whether documents are in the default storage.
    pub has_documents: bool,
    /// Whether they may fit into one PDF.
    pub may_be_collected: bool,
    /// The form with rows that led to the page, if it was rejected.
    pub rejected_rows: Option<RejectedRows>,
    /// The members that were chosen in the rejected form of columns that led to the page, one for each column. `None` also if they are
    /// too large to be shown again.
    pub rejected_members: Option<Vec<String>>,
    /// The columns of a batch that has not begun; `None` once they can't be changed.
    pub columns: Option<BatchColumns>,
}

/// A rejected form with rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRows {
    /// Why no rows were stored, and the next step.
    pub reason: String,
    /// The URL whose file was rejected; empty if a file was chosen, or nothing. `None` if it is too long to be shown again.
    pub url: Option<String>,
}

/// A row of a batch with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRow {
    /// From 1.
    pub number: i32,
    pub state: RowState,
    /// `None` if the row is invalid, or its render was deleted.
    pub render: Option<RenderId>,
    /// Why it failed; empty if it didn't.
    pub error: String,
}

/// What a new batch may render, and where its documents may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchChoices {
    /// Templates with a release in production.
    pub templates: Vec<(TemplateId, String)>,
    /// Storage connections, with name and URI.
    pub connections: Vec<(ConnectionId, String)>,
}

/// The form that creates a batch, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBatchForm {
    pub name: String,
    /// Id of the template.
    pub template: String,
    /// Id of the storage connection; empty for the default storage.
    pub storage: String,
    /// Path of each document below the prefix of the connection, with placeholders. Ignored for the default storage.
    pub path: String,
    /// Name of each document in the ZIP archive, with placeholders; empty for the numbers of rows. Ignored with a connection.
    pub file_names: String,
    /// `live` or `test`; live if empty. Renders of test batches are free and stamped TEST.
    pub mode: String,
}

/// A change of a batch that users make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchChange {
    /// No more rows are opened until it is resumed.
    Pause,
    Resume,
    /// Unfinished renders are cancelled, too.
    Cancel,
    /// Failed rows are opened again.
    Retry,
}
