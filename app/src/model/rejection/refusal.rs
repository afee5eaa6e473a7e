//! Refused actions on payments and renders.

use serde::{Deserialize, Serialize};

/// Why a purchase or a change of plan was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentRefusal {
    /// The product isn't for sale.
    NotForSale,
    /// The card was declined, or its bank requires authentication.
    Declined,
    /// The subscription has changed since the page was shown.
    ChangedMeanwhile,
    /// Stripe doesn't respond.
    NoAnswer,
}

impl PaymentRefusal {
    /// Returns the text for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotForSale => "This product is no longer available. Reload the page.",
            Self::Declined => {
                "The payment was declined, and nothing has changed. Check your card at Stripe, then try again."
            }
            Self::ChangedMeanwhile => {
                "The subscription has changed since you opened the page. Review it, then try again."
            }
            Self::NoAnswer => "Stripe is not responding, and nothing has changed. Try again in a few minutes.",
        }
    }
}

/// Why an action on a render or its delivery was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderRefusal {
    /// The render has ended.
    HasEnded,
    /// It is a synchronous render, whose client is waiting.
    IsAwaited,
    /// The render hasn't ended, so there is nothing to deliver.
    NotToldYet,
    /// An attempt of the delivery is running.
    BeingSent,
    /// The delivery has ended or was discarded.
    NotTried,
    /// The webhook endpoint is disabled.
    EndpointDisabled,
}

impl RenderRefusal {
    /// Returns the text for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::HasEnded => "This render has already ended.",
            Self::IsAwaited => "To cancel a synchronous render, close its connection.",
            Self::NotToldYet => "This render hasn't ended yet. Its webhook is notified when it ends.",
            Self::BeingSent => "A delivery attempt is in progress. Try again in a minute.",
            Self::NotTried => "This delivery has already ended.",
            Self::EndpointDisabled => "This endpoint is disabled. Enable it, then resend the delivery.",
        }
    }
}
