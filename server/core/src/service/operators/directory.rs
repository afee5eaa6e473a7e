//! Directory of accounts for operators. Shows numbers and names, never secrets or content.

use std::num::NonZeroU16;

use platen_domain::{
    account_directory::{AccountFile, DirectoryCursor, DirectoryPage, DirectorySearch},
    billing::FREE,
    ids::AccountId,
    page::PageRequest,
    render::log::LogFilter,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::{activity, credits, storage_use},
    store::{
        account_limits, api_keys, audit_log, directory,
        error::StoreError,
        members,
        renders::{log, search::SearchRange},
        stripe_subscriptions,
    },
};

/// Accounts of a page.
const PAGE: usize = 50;
/// Entries of each list on an account's page.
const LATEST: NonZeroU16 = NonZeroU16::MIN.saturating_add(9);

/// Returns a page of 50 accounts that match the search.
pub async fn list(db: &PgPool, search: &DirectorySearch, now: OffsetDateTime) -> Result<DirectoryPage, StoreError> {
    let most = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
    let mut entries = directory::list(db, search, most, now).await?;
    let more = entries.len() > PAGE;
    entries.truncate(PAGE);
    let next = entries.last().filter(|_| more).map(|last| DirectoryCursor {
        rank: last.rank,
        account: AccountId(last.id),
    });
    Ok(DirectoryPage {
        entries,
        next,
        counts: directory::count(db, FREE).await?,
    })
}

/// Returns the page of an account, or `None` if it doesn't exist.
pub async fn find(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Option<AccountFile>, StoreError> {
    let found = tokio::try_join!(directory::find(db, account, now), account_limits::find(db, account))?;
    let (Some(record), Some(limits)) = found else {
        return Ok(None);
    };
    let balance = credits::usage(db, account, now).await?.balance;
    let period = [balance.period.starts_at, balance.period.ends_at];
    let latest = PageRequest::after(None, LATEST);
    let filter = LogFilter::default();
    let newest = SearchRange {
        page: latest,
        last: None,
    };
    let lines = i64::from(LATEST.get());
    let ((figures, _), members, keys, renders, periods, subscriptions, audit, storage) = tokio::try_join!(
        activity::figures(db, account, None, period, false),
        members::list(db, account),
        api_keys::list(db, account, now),
        log::list(db, account, &filter, newest),
        directory::list_periods(db, account, lines),
        stripe_subscriptions::list(db, account),
        audit_log::list_of_account(db, account, lines),
        storage_use::list(db, account),
    )?;
    Ok(Some(AccountFile {
        record,
        limits,
        storage,
        balance,
        figures,
        members,
        keys,
        renders: latest.page(renders, |render| render.id).items,
        periods,
        subscriptions,
        audit,
    }))
}
