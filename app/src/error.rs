//! What went wrong, as a visitor may know it.

use std::fmt;

use leptos::{
    prelude::FromServerFnError,
    server_fn::{codec::JsonEncoding, error::ServerFnErrorErr},
};
use serde::{Deserialize, Serialize};

use crate::model::{
    rejection::{Field, Reason, Rejection},
    role::{Permission, Role},
};

/// Why a page or an action failed. It travels to the browser: nothing in it may be secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppError {
    /// Only for those who have logged in.
    LogInFirst,
    /// Whoever is logged in belongs to no account any more.
    NoAccount,
    /// Whoever is logged in does not belong any more to the account for which they acted.
    NotMember,
    /// An operator has suspended the account: it is there to be read.
    Suspended,
    /// Whoever is logged in is an operator who looks into an account.
    OnlyLooking,
    /// The person's role in the account does not allow it.
    NotAllowed(Permission),
    /// The account wants everybody to have a second factor, and they have none.
    SecondFactorFirst,
    /// There is no such thing, or it belongs to another account.
    NotFound,
    /// A form is refused.
    Rejected(Rejection),
    /// What was sent can't be read: a form of an older release, or a forged one.
    Malformed,
    /// The server failed; its log says why beside this id of the request.
    Internal {
        /// `X-Request-Id` of the answer.
        request_id: String,
    },
    /// The server can't reach its database at this moment.
    Unavailable,
    /// The server did not answer the browser.
    Unreachable,
}

impl AppError {
    /// The same, with what was typed: without JavaScript it would be gone.
    #[must_use]
    pub fn with_typed(self, typed: Vec<(Field, String)>) -> Self {
        match self {
            Self::Rejected(Rejection { reason, .. }) => Self::Rejected(Rejection { reason, typed }),
            other => other,
        }
    }

    /// Which of several things of a page the refused form was about.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Rejected(rejection) => rejection.typed(Field::Subject),
            _ => None,
        }
    }

    /// The status of an answer that tells of it.
    pub fn status(&self) -> u16 {
        match self {
            Self::LogInFirst => 401,
            Self::NoAccount
            | Self::NotMember
            | Self::Suspended
            | Self::OnlyLooking
            | Self::NotAllowed(_)
            | Self::SecondFactorFirst => 403,
            Self::NotFound => 404,
            Self::Rejected(rejection) => match rejection.reason {
                Reason::WrongCredentials
                | Reason::WrongPassword
                | Reason::PasskeyRefused
                | Reason::OthersInvitation
                | Reason::StorageFull(_)
                | Reason::Unconfirmed => 403,
                Reason::TooMany { .. } | Reason::TooManyInvitations | Reason::ExportsSpent => 429,
                Reason::Payment(_)
                | Reason::Render(_)
                | Reason::SavedMeanwhile
                | Reason::OwnerStays
                | Reason::TooManyPasskeys
                | Reason::ExportUnderWay => 409,
                Reason::Invalid(_)
                | Reason::KeyEnded
                | Reason::WorthlessLink
                | Reason::EmailTaken
                | Reason::PasskeyTooLate => 422,
            },
            Self::Malformed => 422,
            Self::Unavailable => 503,
            Self::Internal { .. } | Self::Unreachable => 500,
        }
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LogInFirst => formatter.write_str("You are not logged in, or your session has ended."),
            Self::NoAccount => formatter.write_str("You belong to no account any more. Sign up for a new one."),
            Self::NotMember => formatter.write_str("You no longer belong to the account that you worked with."),
            Self::Suspended => formatter
                .write_str("This account is suspended: nothing can be changed. Write to the operator of this service."),
            Self::OnlyLooking => {
                formatter.write_str("You look at this account: nothing can be changed. Stop looking first.")
            }
            Self::NotAllowed(permission) => formatter.write_str(match permission.takes() {
                Role::Owner => "Only the owner of this account can do that. Ask them.",
                Role::Admin => "Only the owner and the admins of this account can do that. Ask one of them.",
                Role::Member => "Only members of this account can do that.",
            }),
            Self::SecondFactorFirst => formatter.write_str("A second factor is asked for here. Set yours up first."),
            Self::NotFound => formatter.write_str("There is nothing at this address."),
            Self::Rejected(rejection) => rejection.fmt(formatter),
            Self::Malformed => formatter.write_str("This page is older than the service. Load it again."),
            Self::Internal { request_id } => {
                write!(
                    formatter,
                    "Something broke on our side. We have logged it as request {request_id}."
                )
            }
            Self::Unavailable => {
                formatter.write_str("The service can't reach its database at this moment. Try again in a minute.")
            }
            Self::Unreachable => {
                formatter.write_str("The service did not answer. Look at your connection and try again.")
            }
        }
    }
}

impl std::error::Error for AppError {}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) | ServerFnErrorErr::Deserialization(_) => {
                Self::Malformed
            }
            _ => Self::Unreachable,
        }
    }
}
