//! Directory of accounts for operators. Shows numbers and names, never secrets or content.

use platen_domain::{
    api_key::ApiKey,
    audit_log::AuditRow,
    billing::{FREE, Subscription},
    ids::AccountId,
    page::PageRequest,
    plan::PlanLimits,
    render::{log::LogFilter, statistics::RenderFigures},
    storage::StorageUse,
    team::Member,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::{credits, storage_use},
    store::{
        account_limits, api_keys, audit_log,
        directory::{
            self, AccountPeriod, AccountRecord, DirectoryCounts, DirectoryCursor, DirectoryEntry, DirectorySearch,
        },
        error::StoreError,
        members,
        renders::{
            log::{self, LoggedRender},
            statistics,
        },
        stripe_subscriptions,
        usage::PeriodUsage,
    },
};

/// Accounts of a page.
const PAGE: usize = 50;
/// Entries of each list on an account's page.
const LATEST: u16 = 10;

/// A page of the directory.
pub struct DirectoryPage {
    /// Accounts, in the order of the search.
    pub entries: Vec<DirectoryEntry>,
    /// Cursor of the next page; `None` on the last one.
    pub next: Option<DirectoryCursor>,
    /// Counts of all accounts, regardless of the search.
    pub counts: DirectoryCounts,
}

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

/// Content of an account's page for operators.
pub struct AccountFile {
    pub record: AccountRecord,
    /// Limits that apply to the account.
    pub limits: PlanLimits,
    /// Use of storage.
    pub storage: Vec<StorageUse>,
    /// Credits used in the current period.
    pub usage: PeriodUsage,
    /// Figures of the renders in the current period.
    pub figures: RenderFigures,
    /// Members, the owner first.
    pub members: Vec<Member>,
    /// API keys, the latest first, including revoked and expired ones.
    pub keys: Vec<ApiKey>,
    /// Latest renders.
    pub renders: Vec<LoggedRender>,
    /// Latest credit periods.
    pub periods: Vec<AccountPeriod>,
    /// Subscriptions at Stripe.
    pub subscriptions: Vec<Subscription>,
    /// Latest audit events of operators.
    pub audit: Vec<AuditRow>,
}

/// Returns the page of an account, or `None` if it doesn't exist.
pub async fn find(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Option<AccountFile>, StoreError> {
    let found = tokio::try_join!(directory::find(db, account, now), account_limits::find(db, account))?;
    let (Some(record), Some(limits)) = found else {
        return Ok(None);
    };
    let usage = credits::usage(db, account, now).await?;
    let latest = PageRequest {
        size: LATEST.try_into().ok(),
        after: None,
    };
    let filter = LogFilter::default();
    let lines = i64::from(LATEST);
    let (figures, members, keys, renders, periods, subscriptions, audit, storage) = tokio::try_join!(
        statistics::figures(db, account, usage.balance.period.starts_at),
        members::list(db, account),
        api_keys::list(db, account),
        log::list(db, account, &filter, latest),
        directory::list_periods(db, account, lines),
        stripe_subscriptions::list(db, account),
        audit_log::list_of_account(db, account, lines),
        storage_use::list(db, account),
    )?;
    Ok(Some(AccountFile {
        record,
        limits,
        storage,
        usage,
        figures,
        members,
        keys,
        renders: latest.page(renders, |render| render.id).items,
        periods,
        subscriptions,
        audit,
    }))
}
