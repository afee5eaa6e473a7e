//! Accounts, as operators find and see them.

use std::{fmt, str::FromStr};

use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    api_key::ApiKey,
    audit_log::AuditRow,
    billing::Subscription,
    credits::Balance,
    ids::AccountId,
    plan::{OwnLimits, PlanLimits, StorageLimits},
    render::{log::LoggedRender, statistics::RenderFigures},
    storage::StorageUse,
    team::Member,
};

/// Status of an account. The names are used in query parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum AccountState {
    Active,
    Suspended,
    /// Its owner has requested deletion.
    ToBeDeleted,
}

impl AccountState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Suspended => "Suspended",
            Self::ToBeDeleted => "Deletion scheduled",
        }
    }
}

/// Order of a list of accounts, descending. The names are used in query parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum AccountOrder {
    /// Time of creation.
    #[default]
    Newest,
    /// Credits used in this period.
    #[strum(serialize = "used")]
    CreditsUsed,
    /// Renders that failed in the last 24 hours.
    Failures,
}

impl AccountOrder {
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "Newest",
            Self::CreditsUsed => "Credits used",
            Self::Failures => "Failures",
        }
    }
}

/// An account in the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    pub id: Uuid,
    /// Display name: the account's name or, if that is empty, its owner's email address.
    pub called: String,
    /// Email address of the owner.
    pub owner: String,
    pub plan: String,
    /// Credits used in the current period.
    pub used: i64,
    /// All credits of the current period.
    pub total: i64,
    /// Renders accepted in the last 24 hours that have ended.
    pub ended: i64,
    /// Renders accepted in the last 24 hours that have failed.
    pub failed: i64,
    pub inserted_at: OffsetDateTime,
    pub suspended_at: Option<OffsetDateTime>,
    /// When the account will be deleted, if its deletion is scheduled.
    pub delete_at: Option<OffsetDateTime>,
    /// Sort key, by the search's order: creation time in milliseconds, credits used, or recently failed renders.
    pub rank: i64,
}

/// Numbers of accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryCounts {
    /// All accounts.
    pub accounts: i64,
    /// Accounts on another plan than the free one.
    pub paid: i64,
    /// Suspended accounts.
    pub suspended: i64,
}

/// Details of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountRecord {
    /// Display name: the account's name or, if that is empty, its owner's email address.
    pub called: String,
    pub plan: String,
    /// Credits of one period, if they differ from the plan's.
    pub credits: Option<i64>,
    pub inserted_at: OffsetDateTime,
    pub suspended_at: Option<OffsetDateTime>,
    /// Reason of the suspension, as the operator stated it.
    pub suspended_because: Option<String>,
    /// When the account will be deleted, if its deletion is scheduled.
    pub delete_at: Option<OffsetDateTime>,
    /// See [`OwnLimits`].
    pub concurrency: Option<i32>,
    /// See [`OwnLimits`].
    pub rate_per_minute: Option<i32>,
    /// See [`OwnLimits`].
    pub body_bytes: Option<i32>,
    /// See [`OwnLimits`].
    pub sync_deadline_seconds: Option<i32>,
    /// See [`OwnLimits`].
    pub storage_limits: Value,
    /// Pending invitations.
    pub invitations: i64,
    /// Storage connections.
    pub connections: i64,
    /// Templates that aren't deleted.
    pub templates: i64,
    /// Jobs in the queue.
    pub waiting: i64,
    /// Jobs that a worker holds.
    pub in_hand: i64,
    /// Id of the Stripe customer.
    pub customer: Option<String>,
}

impl DirectoryEntry {
    pub fn state(&self) -> AccountState {
        state(self.suspended_at, self.delete_at)
    }
}

impl AccountRecord {
    pub fn state(&self) -> AccountState {
        state(self.suspended_at, self.delete_at)
    }

    /// Returns the limits that an operator has set.
    pub fn own_limits(&self) -> OwnLimits {
        OwnLimits {
            concurrency: self.concurrency,
            rate_per_minute: self.rate_per_minute,
            body_bytes: self.body_bytes,
            sync_deadline_seconds: self.sync_deadline_seconds,
            storage: read_storage(&self.storage_limits),
        }
    }
}

/// Credits and usage of an account in one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountPeriod {
    pub starts_at: OffsetDateTime,
    /// Credits of the plan.
    pub allowance: i64,
    /// Credits granted by operators for this period.
    pub granted: i64,
    /// Credits that were bought, or granted until they are used.
    pub bought: i64,
    /// Credits used.
    pub used: i64,
    /// Part of the used credits that exceeded all of these.
    pub overage_used: i64,
}

/// An account with all that operators may look up about it. Titles and parts of its renders are not shown to them.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountFile {
    pub record: AccountRecord,
    /// Limits that apply to the account.
    pub limits: PlanLimits,
    /// Use of storage.
    pub storage: Vec<StorageUse>,
    /// Credits of the current period.
    pub balance: Balance,
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

fn state(suspended_at: Option<OffsetDateTime>, delete_at: Option<OffsetDateTime>) -> AccountState {
    match (suspended_at, delete_at) {
        (Some(_), _) => AccountState::Suspended,
        (None, Some(_)) => AccountState::ToBeDeleted,
        (None, None) => AccountState::Active,
    }
}

/// Reads the column. Resources that this build doesn't know are ignored.
fn read_storage(column: &Value) -> StorageLimits {
    let members = column.as_object().into_iter().flatten();
    let limits = members.filter_map(|(name, limit)| Some((name.parse().ok()?, limit.as_i64()?)));
    limits.collect()
}

/// Start of a page of the directory: after this account and its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryCursor {
    /// See [`DirectoryEntry::rank`].
    pub rank: i64,
    pub account: AccountId,
}

/// Search in the directory; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectorySearch {
    /// Part of an account's name or a member's email address, the beginning of a key, or the id of an account or a
    /// render.
    pub text: String,
    pub plan: Option<String>,
    pub state: Option<AccountState>,
    pub order: AccountOrder,
    /// Only the accounts after this one.
    pub after: Option<DirectoryCursor>,
}

impl fmt::Display for DirectoryCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.rank, self.account)
    }
}

/// The text is not a cursor of the directory.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownCursor;

impl FromStr for DirectoryCursor {
    type Err = UnknownCursor;

    fn from_str(text: &str) -> Result<Self, UnknownCursor> {
        let (rank, account) = text.split_once(':').ok_or(UnknownCursor)?;
        Ok(Self {
            rank: rank.parse().map_err(|_| UnknownCursor)?,
            account: AccountId::parse(account).ok_or(UnknownCursor)?,
        })
    }
}

/// A page of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryPage {
    /// Accounts, in the order of the search.
    pub entries: Vec<DirectoryEntry>,
    /// Cursor of the next page; `None` on the last one.
    pub next: Option<DirectoryCursor>,
    /// Counts of all accounts, regardless of the search.
    pub counts: DirectoryCounts,
}
