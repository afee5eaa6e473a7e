//! All accounts, and all that operators see of one: numbers and names, never secrets and never content.

use platen_app::model::storage::StorageUse;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        billing::{FREE, Subscription},
        ids::AccountId,
        page::PageRequest,
        plan::PlanLimits,
        render::log::LogFilter,
    },
    service::{credits, storage_use},
    store::{
        account_limits, api_keys,
        api_keys::ApiKey,
        audit_log::{self, AuditRow},
        directory::{
            self, AccountPeriod, AccountRecord, DirectoryCounts, DirectoryCursor, DirectoryEntry, DirectorySearch,
        },
        error::StoreError,
        members::{self, Member},
        renders::{
            log::{self, LoggedRender},
            statistics::{self, RenderFigures},
        },
        stripe_subscriptions,
        usage::PeriodUsage,
    },
};

/// Accounts of a page.
const PAGE: usize = 50;
/// What is shown of each list about an account.
const LATEST: u16 = 10;

/// A page of the directory.
pub struct DirectoryPage {
    /// In the order that was asked for.
    pub entries: Vec<DirectoryEntry>,
    /// Where the next page begins, if there is one.
    pub next: Option<DirectoryCursor>,
    /// Of all accounts, whatever is looked for.
    pub counts: DirectoryCounts,
}

/// Looks for accounts.
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

/// All that operators see of an account.
pub struct AccountFile {
    /// The account itself.
    pub record: AccountRecord,
    /// What counts for it.
    pub limits: PlanLimits,
    /// What it stores.
    pub storage: Vec<StorageUse>,
    /// What it has used in this period.
    pub usage: PeriodUsage,
    /// Its renders in this period.
    pub figures: RenderFigures,
    /// Its members, the owner first.
    pub members: Vec<Member>,
    /// Its keys, the newest first, those that have ended too.
    pub keys: Vec<ApiKey>,
    /// Its latest renders.
    pub renders: Vec<LoggedRender>,
    /// Its latest periods.
    pub periods: Vec<AccountPeriod>,
    /// What it pays for at Stripe.
    pub subscriptions: Vec<Subscription>,
    /// What operators did to it lately.
    pub audit: Vec<AuditRow>,
}

/// One account. `None`: there is none.
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
