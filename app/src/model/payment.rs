//! What an account pays for.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::model::{money::Money, standing::PaymentDue};

/// What the person may see of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payment {
    /// Nothing is for sale: the operator gives plans.
    ByOperator,
    /// It is for the account's owners to see.
    ForOwners,
    /// All of it.
    Open(Box<Shop>),
}

/// What is for sale, and what was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    /// What is left when nothing is paid for; `None`: the account has that.
    pub free: Option<PlanOffer>,
    /// Plans that cost something, the smallest first.
    pub plans: Vec<PlanOffer>,
    /// Credits that are bought once, the fewest first.
    pub packs: Vec<PackOffer>,
    /// What the account pays for every month.
    pub subscription: Option<Subscription>,
    /// What it may use beyond its credits; `None`: nothing, whatever it pays.
    pub overage: Option<Overage>,
    /// The plan that the person has chosen, and what it would mean.
    pub choice: Option<Choice>,
    /// What Stripe alone knows; `None`: the account has never paid for anything.
    pub papers: Option<Papers>,
}

/// A plan for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    /// Its name.
    pub name: String,
    /// Credits of each month.
    pub credits: i64,
    /// What a month costs.
    pub price: Money,
}

/// Credits for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackOffer {
    /// By which they are asked for.
    pub product: String,
    /// How many.
    pub credits: i64,
    /// What they cost.
    pub price: Money,
}

/// What an account may use beyond its credits, and pays for at the end of the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overage {
    /// Of 1,000 credits.
    pub price: Money,
    /// Credits that its owner allows in each period.
    pub limit: i64,
    /// What the plan lets them allow.
    pub most: i64,
    /// What was used so in this period.
    pub used: i64,
    /// What that comes to.
    pub cost: Money,
}

/// What an account pays for every month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Name of the plan that is paid for now.
    pub plan: String,
    /// When the period ends.
    pub renews_at: OffsetDateTime,
    /// When it ends, if that is decided.
    pub ends_at: Option<OffsetDateTime>,
    /// The smaller plan that comes next, and when.
    pub next: Option<(String, OffsetDateTime)>,
    /// Whether something is to be paid.
    pub due: Option<PaymentDue>,
}

impl Subscription {
    /// Whether another plan can be chosen: nothing else is decided yet.
    pub fn is_at_rest(&self) -> bool {
        self.ends_at.is_none() && self.next.is_none() && self.due.is_none()
    }
}

/// A plan that somebody has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub plan: String,
    /// What it would mean.
    pub means: Meaning,
}

/// What a plan that somebody has chosen would mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// The first one that costs something.
    First {
        /// A month.
        price: Money,
    },
    /// More, at once.
    Larger {
        /// What is to be paid now.
        today: Money,
        /// From the next period on, a month.
        price: Money,
        /// The moment for which that was worked out, in seconds since 1970.
        as_of: i64,
        /// The end of the period.
        until: OffsetDateTime,
    },
    /// Less, when the period ends.
    Smaller {
        /// From then on, a month.
        price: Money,
        /// Then.
        from: OffsetDateTime,
    },
    /// Nothing that costs, when the period ends.
    Free {
        /// Then.
        from: OffsetDateTime,
    },
    /// It can't be had at this moment.
    Nothing,
}

/// What Stripe alone knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Papers {
    /// It has said so.
    Known {
        /// The latest first.
        invoices: Vec<Invoice>,
        /// What pays: `Visa ending 4242`, and when it expires.
        card: Option<(String, Option<String>)>,
        /// Whom invoices are made out to.
        name: Option<String>,
        /// Where invoices go.
        email: Option<String>,
    },
    /// It does not answer.
    Unknown,
}

/// An invoice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    /// As it stands on it.
    pub number: String,
    /// When it was made.
    pub at: OffsetDateTime,
    /// How it stands.
    pub state: InvoiceState,
    /// What it comes to.
    pub total: Money,
    /// Where it can be read, or paid.
    pub page: Option<String>,
    /// Where its PDF lies.
    pub pdf: Option<String>,
}

/// How an invoice stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvoiceState {
    /// Paid.
    Paid,
    /// To be paid.
    Open,
    /// Nobody has to pay it.
    Void,
}

/// Why nothing is bought, changed or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentRefusal {
    /// It is not for sale.
    NotForSale,
    /// The card was declined, or its bank wants to ask.
    Declined,
    /// The subscription does not stand any more as the page has shown it.
    ChangedMeanwhile,
    /// Stripe does not answer.
    NoAnswer,
}

impl PaymentRefusal {
    /// In words.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotForSale => "This is not for sale any more. Load the page again.",
            Self::Declined => {
                "The payment was declined, so nothing has changed. Look after your card at Stripe, then try again."
            }
            Self::ChangedMeanwhile => "The subscription has changed meanwhile. Look at it once more before you go on.",
            Self::NoAnswer => "Stripe does not answer, so nothing has changed. Try again in a few minutes.",
        }
    }
}
