//! Account exports: archives of all data of an account, for its owner.

use time::OffsetDateTime;

use crate::ids::ExportId;

/// How long an archive can be downloaded.
pub const LIFETIME: time::Duration = time::Duration::days(7);
/// Maximum number of exports that an owner may request within [`DAY`].
pub const MOST_A_DAY: i64 = 3;
/// See [`MOST_A_DAY`].
pub const DAY: time::Duration = time::Duration::days(1);
/// Maximum total size of the assets in an archive; others are listed without their files.
pub const MOST_ASSET_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum total size of the documents in an archive; older documents are listed with their addresses.
pub const MOST_DOCUMENT_BYTES: u64 = 1024 * 1024 * 1024;

/// An export as its owner sees it.
#[derive(Debug, Clone)]
pub struct Export {
    pub id: ExportId,
    pub state: ExportState,
    /// Size of the archive; `None` until it is ready.
    pub bytes: Option<i64>,
    /// When it was requested.
    pub inserted_at: OffsetDateTime,
}

/// The status of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportState {
    Waiting,
    /// The archive can be downloaded.
    Ready,
    /// The archive could not be created.
    Failed,
}

/// Reads a column; a check constraint excludes other values.
impl From<String> for ExportState {
    fn from(column: String) -> Self {
        match column.as_str() {
            "ready" => Self::Ready,
            "failed" => Self::Failed,
            _ => Self::Waiting,
        }
    }
}
