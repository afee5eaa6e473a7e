//! The audit log, for operators: page by page, and as a file.

use std::num::NonZeroU16;

use data_encoding::HEXLOWER;
use sqlx::PgPool;
use time::{OffsetDateTime, UtcOffset, format_description::FormatItem, macros::format_description};

use crate::{
    domain::{
        csv,
        page::{Page, PageRequest},
    },
    service::operators::audit::ChainEnd,
    store::{
        audit_log::{self, AuditFilter, AuditRow},
        error::StoreError,
    },
};

/// Entries of a page, and of a part of a file.
const PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
const PART: NonZeroU16 = NonZeroU16::MIN.saturating_add(999);

/// How times stand in the file.
const MACHINE: &[FormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
/// The head of the file.
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

/// What was done, the latest first.
pub async fn page(db: &PgPool, filter: &AuditFilter, after: Option<i64>) -> Result<Page<AuditRow, i64>, StoreError> {
    part(db, filter, after, PAGE).await
}

async fn part(
    db: &PgPool,
    filter: &AuditFilter,
    after: Option<i64>,
    size: NonZeroU16,
) -> Result<Page<AuditRow, i64>, StoreError> {
    let request = PageRequest {
        size: Some(size),
        after,
    };
    let found = audit_log::list(db, filter, request).await?;
    Ok(request.page(found, |row| row.number))
}

/// The end of the chain, as the database has it.
pub async fn end(db: &PgPool) -> Result<Option<ChainEnd>, StoreError> {
    let end = audit_log::find_end(db).await?;
    Ok(end.map(|(number, digest)| ChainEnd {
        number,
        digest: HEXLOWER.encode(&digest),
    }))
}

/// A part of the file: its rows, and after which entry the next part begins, if there is one.
pub async fn rows(db: &PgPool, filter: &AuditFilter, after: Option<i64>) -> Result<(String, Option<i64>), StoreError> {
    let found = part(db, filter, after, PART).await?;
    Ok((found.items.iter().map(row).collect(), found.next))
}

fn row(row: &AuditRow) -> String {
    let entry = &row.entry;
    csv::row(&[
        &row.number.to_string(),
        &machine(row.happened_at),
        entry.by.who(),
        entry.by.address().unwrap_or_default(),
        &row.kind,
        &row.what(),
        &entry.account.map(|account| account.to_string()).unwrap_or_default(),
        entry.account_name.as_deref().unwrap_or_default(),
        &entry.reason,
    ])
}

fn machine(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC).format(MACHINE).unwrap_or_default()
}
