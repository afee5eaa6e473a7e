//! Mails of the service to users: their kinds, and the paths of their links.

pub mod texts;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use time::OffsetDateTime;

use crate::ids::{ApiKeyId, InvitationId};

/// The page that completes a sign-up, where the chosen password is entered.
pub const VERIFY_PATH: &str = "/sign-up/verify";
/// The page that sets a new password.
pub const RESET_PASSWORD_PATH: &str = "/reset-password";
/// The page that confirms a new email address of a logged-in user.
pub const CONFIRM_EMAIL_PATH: &str = "/settings/confirm-email";
/// The page that accepts an invitation to an account.
pub const INVITATION_PATH: &str = "/invitation";
/// The query parameter of a link that contains its token.
pub const TOKEN: &str = "token";

/// The kind of a mail with its data, stored when the mail is enqueued. The text is composed when the mail is sent. The
/// names are used in the database and in logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum MailKind {
    /// A sign-up with this email address.
    VerifyAddress,
    /// A request to reset the password of this user.
    ResetPassword,
    /// To the new address of a user who wants to change it.
    ConfirmAddress,
    /// To the old address of a user who wants to change it.
    AddressChangeAsked {
        new_address: String,
    },
    /// To the old address of a user who has changed it.
    AddressChanged {
        new_address: String,
    },
    PasswordChanged,
    SecondFactorOn,
    /// The second factor was turned off, and none is left.
    SecondFactorOff,
    /// The authenticator app was turned off, and passkeys are left.
    AppOff,
    PasskeyAdded {
        /// The passkey's name.
        name: String,
    },
    /// A passkey was removed, and another factor is left.
    PasskeyRemoved {
        /// The passkey's name.
        name: String,
    },
    /// A recovery code was used in place of the second factor.
    RecoveryCodeUsed {
        /// The number of remaining codes.
        left: i64,
    },
    /// Someone logged in with a browser that the user has not used before.
    NewDevice {
        /// The readable name of browser and system.
        device: String,
        address: IpAddr,
        /// The time of the log-in.
        #[serde(with = "time::serde::rfc3339")]
        at: OffsetDateTime,
    },
    /// The account will be deleted.
    DeletionAsked {
        account_name: String,
        /// The time of the deletion.
        #[serde(with = "time::serde::rfc3339")]
        delete_at: OffsetDateTime,
    },
    /// An invitation to an account.
    Invitation {
        invitation: InvitationId,
    },
    /// The user was removed from an account.
    Removed {
        /// May be empty.
        account_name: String,
    },
    /// The account has a new owner.
    OwnerChanged {
        /// May be empty.
        account_name: String,
        /// The new owner's email address.
        owner: String,
    },
    /// The export of an account can be downloaded.
    ExportReady {
        account_name: String,
        /// The end of the archive's retention.
        #[serde(with = "time::serde::rfc3339")]
        delete_at: OffsetDateTime,
    },
    /// An operator has suspended the account.
    AccountSuspended {
        /// The account's name.
        account: String,
        /// The operator's reason; may be empty.
        reason: String,
    },
    /// An operator has lifted the suspension of the account.
    AccountRestored {
        /// The account's name.
        account: String,
    },
    /// The monthly payment of an account failed.
    PaymentFailed {
        /// The account's name.
        account: String,
        plan: String,
        /// The end of the grace period.
        #[serde(with = "time::serde::rfc3339")]
        until: OffsetDateTime,
    },
    /// The account was downgraded because its plan was not paid for.
    PlanLost {
        /// The account's name.
        account: String,
        /// The plan that was not paid for.
        plan: String,
    },
    /// Most or all of an account's credits are used.
    CreditsUsed {
        /// The account's name.
        account: String,
        /// Used credits.
        used: i64,
        /// Credits of the period.
        own: i64,
        /// Credits that may be used in addition.
        overage_limit: i64,
        /// The end of the period.
        #[serde(with = "time::serde::rfc3339")]
        ends_at: OffsetDateTime,
    },
    /// An API key of an account expires soon.
    KeyExpiring {
        /// The account's name.
        account: String,
        key: ApiKeyId,
        /// The key's name.
        name: String,
        #[serde(with = "time::serde::rfc3339")]
        expires_at: OffsetDateTime,
    },
    /// A webhook endpoint was disabled because its deliveries kept failing.
    WebhookEndpointDisabled {
        /// The account's name.
        account: String,
        /// The endpoint's URL, for display.
        address: String,
    },
    /// The export of an account failed.
    ExportFailed {
        account_name: String,
    },
}

/// A composed mail. Contains a secret if it contains a link.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposedMail {
    /// One line, without user input.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// The same content as HTML.
    pub html: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_as_it_was_stored() {
        let kind = MailKind::AddressChanged {
            new_address: "ann@example.org".to_owned(),
        };
        let stored = serde_json::to_value(&kind).expect("JSON");
        assert_eq!(stored["kind"], kind.into_str());
        assert_eq!(serde_json::from_value::<MailKind>(stored).expect("a kind"), kind);
    }
}
