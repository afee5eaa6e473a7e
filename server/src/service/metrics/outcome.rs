//! What became of what is counted.

use crate::domain::health::failure_kind::FailureKind;

/// What became of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// There is a document.
    Succeeded,
    /// There is none, for this reason.
    Failed(FailureKind),
    /// It was called off.
    Cancelled,
}

impl Outcome {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let failed = FailureKind::ALL.map(Self::Failed);
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

/// What became of one try of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallbackOutcome {
    /// It was received.
    Delivered,
    /// It is sent again later.
    Retried,
    /// It is not sent again.
    GivenUp,
}

impl CallbackOutcome {
    pub(super) const ALL: [Self; 3] = [Self::Delivered, Self::Retried, Self::GivenUp];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retried => "retried",
            Self::GivenUp => "given_up",
        }
    }
}

/// What became of one try of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailOutcome {
    /// A server has taken it.
    Sent,
    /// It is sent again later.
    Retried,
    /// It is not sent again.
    GivenUp,
}

impl MailOutcome {
    pub(super) const ALL: [Self; 3] = [Self::Sent, Self::Retried, Self::GivenUp];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Retried => "retried",
            Self::GivenUp => "given_up",
        }
    }
}
