//! Errors, as visitors see them.

use std::fmt;

use leptos::{
    prelude::FromServerFnError,
    server_fn::{codec::JsonEncoding, error::ServerFnErrorErr},
};
use platen_domain::role::{Permission, Role};
use serde::{Deserialize, Serialize};

use crate::model::rejection::{Field, Reason, Rejection};

/// Why a page or an action failed. It is sent to the browser and contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppError {
    /// The visitor is not logged in.
    LogInFirst,
    /// The user belongs to no account any more.
    NoAccount,
    /// The user no longer belongs to the account for which they acted.
    NotMember,
    /// An operator has suspended the account, which is read-only.
    Suspended,
    /// An operator is viewing the account as its owner, which is read-only.
    OnlyLooking,
    /// The user's role in the account doesn't include this permission.
    NotAllowed(Permission),
    /// The account requires a second factor, and the user has none.
    SecondFactorFirst,
    /// The resource doesn't exist, or belongs to another account.
    NotFound,
    /// A form was rejected.
    Rejected(Rejection),
    /// The form can't be read: it is from an older release, or forged.
    Malformed,
    /// The server failed. Its log contains the cause under this request id.
    Internal {
        /// `X-Request-Id` of the response.
        request_id: String,
    },
    /// The server can't reach its database.
    Unavailable,
    /// The browser got no response from the server.
    Unreachable,
}

impl AppError {
    /// Returns the id of the item that the rejected form was about, on pages with several.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Rejected(rejection) => rejection.typed(Field::Subject),
            _ => None,
        }
    }

    /// Returns the HTTP status for this error.
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
            Self::Rejected(rejection) => match &rejection.reason {
                Reason::Outdated | Reason::StorageFull(_) => 403,
                Reason::TooMany { .. } => 429,
                Reason::SavedMeanwhile => 409,
                Reason::Invalid(_) | Reason::SampleSets(_) => 422,
                #[cfg(feature = "ssr")]
                Reason::Page(reason) => reason.status(),
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
            Self::NoAccount => formatter.write_str("You no longer belong to any account. Sign up for a new one."),
            Self::NotMember => formatter.write_str("You are no longer a member of this account."),
            Self::Suspended => {
                formatter.write_str("This account is suspended and read-only. Contact the operator of this service.")
            }
            Self::OnlyLooking => {
                formatter.write_str("You are viewing this account read-only. Exit the view before you make changes.")
            }
            Self::NotAllowed(permission) => formatter.write_str(match permission.takes() {
                Role::Owner => "Only the owner of this account can do this. Ask the owner.",
                Role::Admin => "Only the owner and admins of this account can do this. Ask one of them.",
                Role::Member => "Only members of this account can do this.",
            }),
            Self::SecondFactorFirst => formatter.write_str("A second factor is required. Set one up to continue."),
            Self::NotFound => formatter.write_str("Page not found. Check the address."),
            Self::Rejected(rejection) => rejection.fmt(formatter),
            Self::Malformed => formatter.write_str("This page is out of date. Reload it."),
            Self::Internal { request_id } => {
                write!(
                    formatter,
                    "Internal error. If it happens again, contact the operator of this service and quote request \
                     {request_id}."
                )
            }
            Self::Unavailable => formatter.write_str("The service can't reach its database. Try again in a minute."),
            Self::Unreachable => {
                formatter.write_str("The service did not respond. Check your connection and try again.")
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
