//! Webhook deliveries, as their account sees them.

use platen_domain::callback::Attempt;
use strum::{EnumString, IntoStaticStr, VariantArray};
use time::OffsetDateTime;

/// Status of a delivery. The names are used in query parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "kebab-case")]
pub enum DeliveryState {
    /// The endpoint responded with a 2xx status.
    Delivered,
    /// An attempt is running or scheduled.
    Trying,
    /// It failed, or was discarded, and is not retried.
    GivenUp,
}

impl DeliveryState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "Delivered",
            Self::Trying => "Trying",
            Self::GivenUp => "Given up",
        }
    }
}

/// Start of a range of time that ends now. The names are used in query parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum Since {
    /// The last 24 hours.
    #[strum(serialize = "24-hours")]
    Day,
    /// The last seven days.
    #[strum(serialize = "7-days")]
    Week,
    /// The last thirty days.
    #[strum(serialize = "30-days")]
    Month,
    /// Everything that is retained.
    #[default]
    #[strum(serialize = "")]
    Ever,
}

impl Since {
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Month => "30 days",
            Self::Ever => "As long as kept",
        }
    }

    /// Returns the length in days, or `None` if unlimited.
    pub fn days(self) -> Option<i64> {
        match self {
            Self::Day => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::Ever => None,
        }
    }
}

/// A search for deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliverySearch {
    /// Id of a render, or part of an address.
    pub text: String,
    pub state: Option<DeliveryState>,
    /// Only deliveries of renders since then.
    pub since: Since,
    /// Cursor: the page begins after this render.
    pub after: Option<String>,
}

/// Everything the webhooks page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhooks {
    pub secret: Secret,
    /// Deliveries, those of the newest renders first.
    pub deliveries: Vec<Delivery>,
    /// Cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// The signing secret of webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Time of creation. `None`: it is created at first use.
    pub made_at: Option<OffsetDateTime>,
    /// Time until which the previous secret signs as well.
    pub former_until: Option<OffsetDateTime>,
    /// The secret itself, while it is revealed.
    pub shown: Option<String>,
}

/// The webhook delivery of a finished render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Id of the render.
    pub render: String,
    /// Event name: `success` or `failed`.
    pub event: &'static str,
    /// Address of the endpoint, without query string.
    pub address: Option<String>,
    pub state: DeliveryState,
    /// Seconds until the next attempt.
    pub next_in_seconds: Option<i64>,
    /// `webhook-id`, by which receivers recognize retries.
    pub webhook_id: String,
    /// The body, JSON.
    pub body: String,
    /// Attempts, the oldest first.
    pub attempts: Vec<Attempt>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for state in DeliveryState::VARIANTS {
            assert_eq!(state.into_str().parse(), Ok(*state));
        }
        for since in Since::VARIANTS {
            assert_eq!(since.into_str().parse(), Ok(*since));
        }
        assert!("1-year".parse::<Since>().is_err());
    }
}
