//! Plans, credits and payment of an account.

use platen_domain::billing::PaymentDue;
use time::OffsetDateTime;

use crate::model::money::Money;

/// What the user may see of payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payment {
    /// Nothing is for sale: operators assign plans.
    ByOperator,
    /// Only owners may see it.
    ForOwners,
    Open(Box<Catalog>),
}

/// The catalog, and what the account has bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// The free plan. `None` if the account is on it.
    pub free: Option<PlanOffer>,
    /// Paid plans, the smallest first.
    pub plans: Vec<PlanOffer>,
    /// Credit packs, the smallest first.
    pub packs: Vec<PackOffer>,
    /// The account's subscription.
    pub subscription: Option<Subscription>,
    /// Overage. `None` if the account can't have any on its plan.
    pub overage: Option<Overage>,
    /// The plan that the user has selected, with the consequences of the change.
    pub choice: Option<Choice>,
    /// Billing details. `None` if the account has never paid for anything.
    pub billing_details: Option<BillingDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    pub name: String,
    /// Credits per month.
    pub credits: i64,
    /// Price per month.
    pub price: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackOffer {
    /// Stripe's id of the product.
    pub product: String,
    /// Number of credits.
    pub credits: i64,
    pub price: Money,
}

/// Credits beyond those of the plan, which are paid for at the end of the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overage {
    /// Price of 1,000 credits.
    pub price: Money,
    /// Credits that the owner allows in each period.
    pub limit: i64,
    /// Largest limit that the plan permits.
    pub most: i64,
    /// Overage used in this period.
    pub used: i64,
    /// Cost of [`Self::used`].
    pub cost: Money,
}

/// A subscription of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Name of the current plan.
    pub plan: String,
    /// End of the period.
    pub renews_at: OffsetDateTime,
    /// End of the subscription, if it was cancelled.
    pub ends_at: Option<OffsetDateTime>,
    /// The smaller plan that is scheduled, and its start.
    pub next: Option<(String, OffsetDateTime)>,
    /// Payment due, if any.
    pub due: Option<PaymentDue>,
}

impl Subscription {
    /// Returns whether the plan can be changed: no cancellation, no change of plan and no payment is pending.
    pub fn is_at_rest(&self) -> bool {
        self.ends_at.is_none() && self.next.is_none() && self.due.is_none()
    }
}

/// A plan that the user has selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Name of the plan.
    pub plan: String,
    /// Consequences of the change.
    pub means: Meaning,
}

/// Consequences of a change of plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// The first subscription.
    First {
        /// Price per month.
        price: Money,
    },
    /// An upgrade, effective at once.
    Larger {
        /// Amount due now.
        today: Money,
        /// Price per month from the next period.
        price: Money,
        /// Time for which `today` was calculated, in Unix seconds.
        as_of: i64,
        /// End of the current period.
        until: OffsetDateTime,
    },
    /// A downgrade at the end of the period.
    Smaller {
        /// Price per month from then.
        price: Money,
        /// Start of the smaller plan.
        from: OffsetDateTime,
    },
    /// A change to the free plan at the end of the period.
    Free {
        /// Start of the free plan.
        from: OffsetDateTime,
    },
    /// The plan isn't available now.
    Nothing,
}

/// Billing details and invoices, as Stripe has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BillingDetails {
    /// Stripe has responded.
    Known {
        /// The latest first.
        invoices: Vec<Invoice>,
        /// The payment method, such as `Visa ending 4242`, and its expiry.
        card: Option<(String, Option<String>)>,
        /// Name on invoices.
        name: Option<String>,
        /// Email address to which invoices are sent.
        email: Option<String>,
    },
    /// Stripe doesn't respond.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    /// Number printed on the invoice.
    pub number: String,
    /// Time of creation.
    pub at: OffsetDateTime,
    pub state: InvoiceState,
    /// Total amount.
    pub total: Money,
    /// Address at which it can be viewed or paid.
    pub page: Option<String>,
    /// Address of its PDF.
    pub pdf: Option<String>,
}

/// Status of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvoiceState {
    Paid,
    /// Due.
    Open,
    /// Voided; no payment is due.
    Void,
}
