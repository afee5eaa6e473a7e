//! Account activity: pages of it, and its CSV export. `store::account_log::insert` records audit events in the
//! transactions of the actions themselves.

use std::num::NonZeroU16;

use platen_domain::{
    account_log::{ActivityFilter, LogEntry},
    client::device,
    csv,
    ids::{AccountId, EventId},
    page::{Page, PageRequest},
};
use sqlx::PgPool;
use time::{UtcOffset, format_description::FormatItem, macros::format_description};

use crate::store::{
    account_log::{self, Author},
    error::StoreError,
};

/// Entries of a page.
const PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
/// Entries of a part of the CSV file.
const PART: NonZeroU16 = NonZeroU16::MIN.saturating_add(999);

/// Format of times in the CSV file, in UTC.
const MACHINE: &[FormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
/// Header row of the CSV file.
pub const COLUMNS: [&str; 7] = ["time", "actor", "name", "address", "device", "kind", "what"];

/// Returns a page of 50 entries, the latest first.
pub async fn page(
    db: &PgPool,
    account: AccountId,
    filter: &ActivityFilter,
    after: Option<EventId>,
) -> Result<Page<LogEntry, EventId>, StoreError> {
    part(db, account, filter, after, PAGE).await
}

async fn part(
    db: &PgPool,
    account: AccountId,
    filter: &ActivityFilter,
    after: Option<EventId>,
    size: NonZeroU16,
) -> Result<Page<LogEntry, EventId>, StoreError> {
    let request = PageRequest::after(after, size);
    let found = account_log::list(db, account, filter, request).await?;
    Ok(request.page(found, |entry| entry.id))
}

/// Returns the actors of the recorded events, for the filter.
pub async fn authors(db: &PgPool, account: AccountId) -> Result<Vec<Author>, StoreError> {
    account_log::list_authors(db, account).await
}

/// Returns the days for which the account's plan retains its activity; 0 if the account doesn't exist.
pub async fn days_kept(db: &PgPool, account: AccountId) -> Result<i32, StoreError> {
    Ok(account_log::find_days(db, account).await?.unwrap_or_default())
}

/// Returns a part of the CSV file: up to 1,000 rows, and the entry after which the next part begins (`None` for the
/// last).
pub async fn rows(
    db: &PgPool,
    account: AccountId,
    filter: &ActivityFilter,
    after: Option<EventId>,
) -> Result<(String, Option<EventId>), StoreError> {
    let found = part(db, account, filter, after, PART).await?;
    Ok((found.items.iter().map(row).collect(), found.next))
}

fn row(entry: &LogEntry) -> String {
    let time = entry.happened_at.to_offset(UtcOffset::UTC).format(MACHINE);
    let device = entry.user_agent.as_deref().map(device).unwrap_or_default();
    csv::row(&[
        &time.unwrap_or_default(),
        &entry.actor,
        &entry.actor_name,
        entry.address.as_deref().unwrap_or_default(),
        &device,
        &entry.kind,
        &entry.what(),
    ])
}
