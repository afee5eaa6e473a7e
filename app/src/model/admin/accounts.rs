//! Accounts, as operators see them: figures and names, without secrets and content.

use platen_domain::{
    account_directory::{AccountOrder, AccountState},
    render::history::{RenderMode, RenderState},
    role::Role,
    storage::{StorageResource, StorageUse},
};
use time::OffsetDateTime;

use crate::model::payment::Invoice;

/// A search for accounts. Absent criteria match all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountSearch {
    /// Part of a name or of a member's email address, the beginning of a key, or the id of an account or a render.
    pub text: String,
    pub plan: Option<String>,
    pub state: Option<AccountState>,
    pub order: AccountOrder,
    /// Cursor: the page begins after this account.
    pub after: Option<String>,
}

/// A page of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountPage {
    /// In the requested order.
    pub accounts: Vec<AccountLine>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// Names of all plans.
    pub plans: Vec<String>,
    /// Number of all accounts, regardless of the search.
    pub total: i64,
    /// Number of accounts on a paid plan.
    pub paid: i64,
    /// Number of suspended accounts.
    pub suspended: i64,
}

/// An account in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountLine {
    pub id: String,
    /// Display name.
    pub called: String,
    /// The owner's email address.
    pub owner: String,
    pub plan: String,
    /// Credits used in this period.
    pub used: i64,
    /// Total credits of this period.
    pub total: i64,
    /// Renders that ended in the last 24 hours.
    pub ended: i64,
    /// Number of these that failed.
    pub failed: i64,
    /// Time of creation.
    pub since: OffsetDateTime,
    pub state: AccountState,
}

/// Details of an account for operators.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountFile {
    /// Time at which the page was rendered.
    pub now: OffsetDateTime,
    pub id: String,
    /// Display name.
    pub called: String,
    pub state: AccountState,
    /// Time of and reason for the suspension.
    pub suspended: Option<(OffsetDateTime, String)>,
    /// Scheduled time of deletion.
    pub delete_at: Option<OffsetDateTime>,
    /// Time of creation.
    pub since: OffsetDateTime,
    pub plan: String,
    /// Credits of each period, if an operator has overridden the plan's.
    pub own_credits: Option<i64>,
    /// Names of all plans.
    pub plans: Vec<String>,
    /// Credits used in this period.
    pub used: i64,
    /// Total credits of this period.
    pub total: i64,
    /// When the period ends.
    pub period_ends_at: OffsetDateTime,
    /// Renders that succeeded in this period.
    pub succeeded: i64,
    /// Renders that failed in this period.
    pub failed: i64,
    /// Queued jobs.
    pub waiting: i64,
    /// Jobs that a worker is running.
    pub in_hand: i64,
    /// Effective limits.
    pub limits: Limits,
    /// Limits that an operator has overridden.
    pub own_limits: OwnLimits,
    /// Storage in use.
    pub storage: Vec<StorageUse>,
    /// Number of open invitations.
    pub invitations: i64,
    /// Number of storage connections.
    pub connections: i64,
    /// Number of templates.
    pub templates: i64,
    /// Id of the Stripe customer.
    pub customer: Option<String>,
    /// Subscriptions: product, Stripe's status, and end of the paid period.
    pub subscriptions: Vec<(String, String, OffsetDateTime)>,
    /// Invoices. `None` if Stripe was not asked or doesn't respond.
    pub invoices: Option<Vec<Invoice>>,
    /// The owner first.
    pub members: Vec<AccountMember>,
    /// The newest first.
    pub keys: Vec<AccountKey>,
    /// The latest renders.
    pub renders: Vec<AccountRender>,
    /// The latest credit periods, the latest first.
    pub periods: Vec<AccountPeriod>,
    /// The latest actions of operators.
    pub audit: Vec<AuditLine>,
}

/// Limits of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Renders running or waiting at the same time.
    pub concurrency: i64,
    /// Requests per minute.
    pub rate_per_minute: i64,
    /// Size of the largest request, in MiB.
    pub body_mib: i64,
    /// Deadline of a synchronous render, in seconds.
    pub deadline_seconds: i64,
}

/// Limits that an operator has overridden. For `None` the plan's limit applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLimits {
    pub concurrency: Option<i32>,
    pub rate_per_minute: Option<i32>,
    pub body_mib: Option<i32>,
    pub deadline_seconds: Option<i32>,
    /// Overridden storage limits.
    pub storage: Vec<(StorageResource, i64)>,
}

/// A member of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountMember {
    /// Their name, or their email address if they have none.
    pub called: String,
    pub email: String,
    pub role: Role,
    /// Time of their last action for the account.
    pub seen_at: Option<OffsetDateTime>,
}

/// An API key of an account, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountKey {
    pub name: String,
    /// The beginning of the key.
    pub hint: String,
    /// `false` for a test key.
    pub live: bool,
    /// Whether the key is accepted.
    pub in_use: bool,
    /// Time of last use.
    pub last_used_at: Option<OffsetDateTime>,
}

/// A render of an account, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRender {
    pub id: String,
    pub state: RenderState,
    pub mode: RenderMode,
    /// Time of acceptance.
    pub at: OffsetDateTime,
    /// Milliseconds from acceptance to the end.
    pub milliseconds: Option<i64>,
    /// Number of pages.
    pub pages: Option<i32>,
    /// Credits charged.
    pub credits: Option<i64>,
}

/// Credits of an account in one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPeriod {
    pub starts_at: OffsetDateTime,
    /// Credits of the plan.
    pub allowance: i64,
    /// Credits granted by operators for this period.
    pub granted: i64,
    /// Credits bought, or granted until used.
    pub bought: i64,
    /// Credits used.
    pub used: i64,
    /// The part of [`Self::used`] beyond all these.
    pub overage_used: i64,
}

/// An action of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    pub at: OffsetDateTime,
    pub who: String,
    pub what: String,
    pub reason: String,
}
