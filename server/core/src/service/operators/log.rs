//! The operator audit log: pages of it, and its CSV export.

use std::num::NonZeroU16;

use data_encoding::HEXLOWER;
use platen_domain::{
    audit_log::{AuditFilter, AuditRow},
    csv,
    page::{Page, PageRequest},
};
use sqlx::PgPool;
use time::{UtcOffset, format_description::FormatItem, macros::format_description};

use crate::{
    service::operators::audit::ChainEnd,
    store::{audit_log, error::StoreError},
};

/// Entries of a page.
const PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
/// Entries of a part of the CSV file.
const PART: NonZeroU16 = NonZeroU16::MIN.saturating_add(999);

/// Format of times in the CSV file, in UTC.
const MACHINE: &[FormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
/// Header row of the CSV file.
pub const COLUMNS: [&str; 9] = [
    "number",
    "time",
    "who",
    "address",
    "kind",
    "what",
    "account",
    "account_name",
    "reason",
];

/// Returns a page of 50 audit events, the latest first.
pub async fn page(db: &PgPool, filter: &AuditFilter, after: Option<i64>) -> Result<Page<AuditRow, i64>, StoreError> {
    part(db, filter, after, PAGE).await
}

async fn part(
    db: &PgPool,
    filter: &AuditFilter,
    after: Option<i64>,
    size: NonZeroU16,
) -> Result<Page<AuditRow, i64>, StoreError> {
    let request = PageRequest::after(after, size);
    let found = audit_log::list(db, filter, request).await?;
    Ok(request.page(found, |row| row.number))
}

/// Returns the end of the chain as stored, without verifying it; `None` if the log is empty.
pub async fn end(db: &PgPool) -> Result<Option<ChainEnd>, StoreError> {
    let end = audit_log::find_end(db).await?;
    Ok(end.map(|(number, digest)| ChainEnd {
        number,
        digest: HEXLOWER.encode(&digest),
    }))
}

/// Returns a part of the CSV file: up to 1,000 rows, and the entry after which the next part begins (`None` for the
/// last).
pub async fn rows(db: &PgPool, filter: &AuditFilter, after: Option<i64>) -> Result<(String, Option<i64>), StoreError> {
    let found = part(db, filter, after, PART).await?;
    Ok((found.items.iter().map(row).collect(), found.next))
}

fn row(row: &AuditRow) -> String {
    let time = row.happened_at.to_offset(UtcOffset::UTC).format(MACHINE);
    let entry = &row.entry;
    csv::row(&[
        &row.number.to_string(),
        &time.unwrap_or_default(),
        entry.by.who(),
        entry.by.address().unwrap_or_default(),
        &row.kind,
        &row.what(),
        &entry.account.map(|account| account.to_string()).unwrap_or_default(),
        entry.account_name.as_deref().unwrap_or_default(),
        &entry.reason,
    ])
}
