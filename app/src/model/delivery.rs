//! Webhook deliveries, as their account sees them.

use platen_domain::{
    callback::{Delivery, DeliveryState},
    ids::RenderId,
    page::Page,
    webhook::SecretStatus,
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
    /// Cursor: the page begins after this render.
    pub after: Option<RenderId>,
}

/// Everything the webhooks page shows.
#[derive(Debug, Clone)]
pub struct Webhooks {
    pub secret: SecretStatus,
    /// Deliveries, those of the newest renders first.
    pub deliveries: Page<Delivery, RenderId>,
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
