//! Outcomes of counted renders, deliveries and mails.

use platen_domain::health::failure_kind::FailureKind;
use strum::{IntoStaticStr, VariantArray};

/// Outcome of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The document was created.
    Succeeded,
    /// The render failed, for this reason.
    Failed(FailureKind),
    /// The render was cancelled.
    Cancelled,
}

impl Outcome {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let failed = FailureKind::VARIANTS.iter().copied().map(Self::Failed);
        [Self::Succeeded, Self::Cancelled].into_iter().chain(failed)
    }

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum MailOutcome {
    /// A server accepted it.
    Sent,
    /// It failed and is retried.
    Retried,
    /// It failed and is discarded.
    GivenUp,
}
