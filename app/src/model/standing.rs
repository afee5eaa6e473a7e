//! What every page of the dashboard shows beside its content.

use time::OffsetDateTime;

use crate::model::{announcement::Announcement, person::Person, role::Role, team::OwnAccount};

/// Who is logged in, for which account, and what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Who is logged in.
    pub person: Person,
    /// Whether they operate the service.
    pub operator: bool,
    /// What operators tell everybody, but for what the person has hidden.
    pub announcements: Vec<Announcement>,
    /// What they are in it.
    pub role: Role,
    /// Why nothing can be changed, if that is so.
    pub read_only: Option<ReadOnly>,
    /// All accounts that they belong to.
    pub accounts: Vec<OwnAccount>,
    /// What the account is called; never empty.
    pub account: String,
    /// When it is deleted, if it is to be.
    pub delete_at: Option<OffsetDateTime>,
    /// From then on the person needs a second factor, if they do and have none.
    pub second_factor_from: Option<OffsetDateTime>,
    /// Credits of this period.
    pub credits: CreditPeriod,
    /// Whether something is to be paid.
    pub payment_due: Option<PaymentDue>,
    /// How many people belong to it.
    pub members: i64,
    /// How many templates there are.
    pub templates: i64,
    /// How many keys are in use.
    pub keys: i64,
    /// How many storage connections there are.
    pub connections: i64,
}

/// Why nothing can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// An operator has suspended the account.
    Suspended,
    /// The person is an operator who looks into it.
    Looking {
        /// For so long at most.
        minutes_left: i64,
    },
}

/// Something is to be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDue {
    /// Until then everything goes on.
    Until(OffsetDateTime),
    /// The account is on the free plan meanwhile.
    Overdue,
}

/// What an account may spend until a moment, and what it has spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditPeriod {
    /// Name of the plan.
    pub plan: String,
    /// From then on.
    pub starts_at: OffsetDateTime,
    /// Until then.
    pub ends_at: OffsetDateTime,
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// What there was at first, with what may be used beyond that.
    pub total: i64,
    /// What may be used beyond the account's own credits, for what it costs.
    pub overage_limit: i64,
    /// What is gone.
    pub used: i64,
}

impl CreditPeriod {
    /// How much of the period is gone, from 0 to 1.
    pub fn elapsed(&self) -> f64 {
        let whole = (self.ends_at - self.starts_at).as_seconds_f64();
        ((self.now - self.starts_at).as_seconds_f64() / whole).clamp(0.0, 1.0)
    }

    /// How much of the credits is gone, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a bar needs no more digits")]
    pub fn share_used(&self) -> f64 {
        if self.total == 0 {
            return 1.0;
        }
        (self.used as f64 / self.total as f64).clamp(0.0, 1.0)
    }
}
