//! Accounts, as operators see them: numbers and names, neither secrets nor content.

use time::OffsetDateTime;

use crate::model::{
    payment::Invoice,
    render::{RenderMode, RenderState},
    role::Role,
    storage::{StorageResource, StorageUse},
};

/// How an account stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    /// It works.
    Active,
    /// An operator has suspended it.
    Suspended,
    /// Its owner has asked for that.
    ToBeDeleted,
}

impl AccountState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::ToBeDeleted];

    /// The word for it in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::ToBeDeleted => "to_be_deleted",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Suspended => "Suspended",
            Self::ToBeDeleted => "To be deleted",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// By what accounts are ordered, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccountOrder {
    /// When they were made.
    #[default]
    Newest,
    /// Credits used in this period.
    CreditsUsed,
    /// Renders that failed in the last 24 hours.
    Failures,
}

impl AccountOrder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Newest, Self::CreditsUsed, Self::Failures];

    /// The word for it in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::CreditsUsed => "used",
            Self::Failures => "failures",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "Newest",
            Self::CreditsUsed => "Credits used",
            Self::Failures => "Failures",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }
}

/// What is looked for among accounts. What is not given does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountSearch {
    /// A part of a name or of a member's address, the beginning of a key, or the id of an account or a render.
    pub text: String,
    /// Name of a plan.
    pub plan: Option<String>,
    /// See [`AccountState`].
    pub state: Option<AccountState>,
    /// See [`AccountOrder`].
    pub order: AccountOrder,
    /// Only what comes behind this one.
    pub after: Option<String>,
}

/// A page of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountPage {
    /// In the order that was asked for.
    pub accounts: Vec<AccountLine>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// The names of all plans.
    pub plans: Vec<String>,
    /// How many accounts there are, whatever is looked for.
    pub total: i64,
    /// Those of them on a paid plan.
    pub paid: i64,
    /// Those of them that are suspended.
    pub suspended: i64,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountLine {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub called: String,
    /// The owner's address.
    pub owner: String,
    /// Its plan.
    pub plan: String,
    /// Credits used in this period.
    pub used: i64,
    /// Credits of this period in all.
    pub total: i64,
    /// Renders that ended in the last 24 hours.
    pub ended: i64,
    /// Those of them that failed.
    pub failed: i64,
    /// Since when there is this account.
    pub since: OffsetDateTime,
    /// See there.
    pub state: AccountState,
}

/// All that operators see of an account.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountFile {
    /// The moment of the page.
    pub now: OffsetDateTime,
    /// Its id.
    pub id: String,
    /// What it is called.
    pub called: String,
    /// See there.
    pub state: AccountState,
    /// Since when it is suspended, and why.
    pub suspended: Option<(OffsetDateTime, String)>,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
    /// Since when there is this account.
    pub since: OffsetDateTime,
    /// Its plan.
    pub plan: String,
    /// Credits of each period, where they are not the plan's.
    pub own_credits: Option<i64>,
    /// The names of all plans.
    pub plans: Vec<String>,
    /// Credits used in this period.
    pub used: i64,
    /// Credits of this period in all.
    pub total: i64,
    /// When the period ends.
    pub period_ends_at: OffsetDateTime,
    /// Renders of this period that succeeded.
    pub succeeded: i64,
    /// Those that failed.
    pub failed: i64,
    /// Jobs that wait.
    pub waiting: i64,
    /// Jobs that are being done.
    pub in_hand: i64,
    /// What counts for it.
    pub limits: Limits,
    /// What of that an operator has decided.
    pub own_limits: OwnLimits,
    /// What it stores.
    pub storage: Vec<StorageUse>,
    /// People who are asked in.
    pub invitations: i64,
    /// Storage connections.
    pub connections: i64,
    /// Templates.
    pub templates: i64,
    /// Stripe's name for it.
    pub customer: Option<String>,
    /// What it pays for: a product, Stripe's word for how that stands, and until when.
    pub subscriptions: Vec<(String, String, OffsetDateTime)>,
    /// Its invoices; `None`: Stripe was not asked, or does not answer.
    pub invoices: Option<Vec<Invoice>>,
    /// Its members, the owner first.
    pub members: Vec<AccountMember>,
    /// Its keys, the newest first.
    pub keys: Vec<AccountKey>,
    /// Its latest renders.
    pub renders: Vec<AccountRender>,
    /// Its latest periods, the latest first.
    pub periods: Vec<AccountPeriod>,
    /// What operators did to it lately.
    pub audit: Vec<AuditLine>,
}

/// How much an account may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Renders running or waiting at once.
    pub concurrency: i64,
    /// Requests a minute.
    pub rate_per_minute: i64,
    /// Largest request, in MiB.
    pub body_mib: i64,
    /// What a synchronous render may take, in seconds.
    pub deadline_seconds: i64,
}

/// Limits that an operator has set; empty fields are the plan's to decide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLimits {
    /// See [`Limits`].
    pub concurrency: Option<i32>,
    /// See [`Limits`].
    pub rate_per_minute: Option<i32>,
    /// See [`Limits`].
    pub body_mib: Option<i32>,
    /// See [`Limits`].
    pub deadline_seconds: Option<i32>,
    /// Of what it stores.
    pub storage: Vec<(StorageResource, i64)>,
}

/// Somebody who belongs to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountMember {
    /// Their name or, where they have none, their address.
    pub called: String,
    /// Log-in name.
    pub email: String,
    /// What they are in it.
    pub role: Role,
    /// When they last acted for it.
    pub seen_at: Option<OffsetDateTime>,
}

/// A key of an account; not a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountKey {
    /// For people.
    pub name: String,
    /// Its beginning.
    pub hint: String,
    /// False for test keys.
    pub live: bool,
    /// Whether it is accepted.
    pub in_use: bool,
    /// When it was used last.
    pub last_used_at: Option<OffsetDateTime>,
}

/// A render of an account, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRender {
    /// Its id.
    pub id: String,
    /// See [`RenderState`].
    pub state: RenderState,
    /// See [`RenderMode`].
    pub mode: RenderMode,
    /// When it was accepted.
    pub at: OffsetDateTime,
    /// From then to its end, in milliseconds.
    pub milliseconds: Option<i64>,
    /// Pages of the document.
    pub pages: Option<i32>,
    /// What was charged.
    pub credits: Option<i64>,
}

/// What an account could spend in a month, and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPeriod {
    /// Its first moment.
    pub starts_at: OffsetDateTime,
    /// What its plan brought.
    pub allowance: i64,
    /// What operators added.
    pub granted: i64,
    /// What was bought, or given until it is used.
    pub bought: i64,
    /// What is gone.
    pub used: i64,
    /// The part of it that was beyond all these.
    pub overage_used: i64,
}

/// What an operator did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub who: String,
    /// What.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// Until when credits that an operator gives can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantLasts {
    /// Until the period of the account ends.
    Period,
    /// Until they are used up.
    UntilUsed,
}

impl GrantLasts {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Period, Self::UntilUsed];

    /// The word for it in forms.
    pub fn word(self) -> &'static str {
        match self {
            Self::Period => "period",
            Self::UntilUsed => "until_used",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Period => "End of this period",
            Self::UntilUsed => "Used up",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lasts| lasts.word() == word)
    }
}
