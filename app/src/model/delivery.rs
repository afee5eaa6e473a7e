//! Webhook deliveries, as their account sees them.

use std::fmt;

use platen_domain::{
    callback::{Delivery, DeliveryState},
    ids::DeliveryId,
    page::Page,
    webhook::SecretStatus,
    webhook_endpoint::WebhookEndpoint,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

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
            Self::Ever => "All stored",
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
    /// Cursor: the page begins after this delivery.
    pub after: Option<DeliveryId>,
}

/// The form of a webhook endpoint.
pub struct EndpointForm {
    /// May contain secrets.
    pub webhook_url: String,
    pub endpoint_description: String,
    /// Event types.
    pub events: Vec<String>,
}

/// Omits the URL.
impl fmt::Debug for EndpointForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("EndpointForm");
        shown.field("events", &self.events).finish_non_exhaustive()
    }
}

/// Everything the webhooks page shows.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// Oldest first.
    pub endpoints: Vec<WebhookEndpoint>,
    pub secret: SecretStatus,
    /// Deliveries, newest first.
    pub deliveries: Page<Delivery, DeliveryId>,
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
