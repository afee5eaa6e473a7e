//! Outcomes of counted renders, deliveries and mails.

use platen_domain::health::failure_kind::FailureKind;
use strum::{IntoStaticStr, VariantNames};

/// Outcome of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The document was created.
    Succeeded,
    /// The render failed, for this reason.
    Failed(FailureKind),
    /// The render was cancelled.
    Cancelled,
}

impl Outcome {
    /// The results of [`Self::as_str`].
    pub(super) const NAMES: [&str; 4] = ["succeeded", "failed_by_caller", "failed_by_service", "cancelled"];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed(kind) if kind.is_the_callers() => "failed_by_caller",
            Self::Failed(_) => "failed_by_service",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Outcome of one attempt to deliver a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum CallbackOutcome {
    /// The endpoint accepted it.
    Delivered,
    /// It failed and is retried.
    Retried,
    /// It failed and is discarded.
    GivenUp,
}

/// Outcome of one attempt to send a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum MailOutcome {
    /// A server accepted it.
    Sent,
    /// It failed and is retried.
    Retried,
    /// It failed and is discarded.
    GivenUp,
}
