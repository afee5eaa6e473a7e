//! Data that every dashboard page shows beside its content.

use platen_domain::{announcement::Announcement, billing::PaymentDue, role::Role};
use time::OffsetDateTime;

use crate::{
    model::{person::Person, team::OwnAccount},
    read_only::ReadOnly,
};

/// The logged-in user, the account for which they act, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSummary {
    /// The logged-in user.
    pub person: Person,
    /// Whether the user is an operator.
    pub operator: bool,
    /// Current announcements that the user hasn't hidden.
    pub announcements: Vec<Announcement>,
    /// The user's role in the account.
    pub role: Role,
    /// Why the account is read-only, if it is.
    pub read_only: Option<ReadOnly>,
    /// All accounts of the user.
    pub accounts: Vec<OwnAccount>,
    /// Display name of the account; never empty.
    pub account: String,
    /// Scheduled time of deletion.
    pub delete_at: Option<OffsetDateTime>,
    /// Time from which the account requires a second factor, if the user has none.
    pub second_factor_from: Option<OffsetDateTime>,
    /// Credits of this period.
    pub credits: CreditPeriod,
    pub payment_due: Option<PaymentDue>,
    /// Number of members.
    pub members: i64,
    /// Number of templates.
    pub templates: i64,
    /// Number of assets.
    pub assets: i64,
    /// Number of keys in use.
    pub keys: i64,
    /// Number of storage connections.
    pub connections: i64,
}

/// Credits of an account in the current period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditPeriod {
    pub plan: String,
    pub starts_at: OffsetDateTime,
    pub ends_at: OffsetDateTime,
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// All credits of the period, including the overage limit.
    pub total: i64,
    /// Credits that may be used beyond the account's own, and are charged for.
    pub overage_limit: i64,
    /// Credits used.
    pub used: i64,
}

impl CreditPeriod {
    /// Returns the elapsed share of the period, from 0 to 1.
    pub fn elapsed(&self) -> f64 {
        let whole = (self.ends_at - self.starts_at).as_seconds_f64();
        ((self.now - self.starts_at).as_seconds_f64() / whole).clamp(0.0, 1.0)
    }

    /// Returns the used share of the credits, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a bar needs no more digits")]
    pub fn share_used(&self) -> f64 {
        if self.total == 0 {
            return 1.0;
        }
        (self.used as f64 / self.total as f64).clamp(0.0, 1.0)
    }
}
