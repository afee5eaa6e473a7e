//! What the service writes to people, when it is sent, and where its links lead.

pub mod letters;

use std::{net::IpAddr, time::Duration};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::domain::{ids::InvitationId, job::spread};

/// Where a sign-up ends: the page asks for the password that was chosen.
pub const VERIFY_PATH: &str = "/sign-up/verify";
/// Where another password is chosen.
pub const RESET_PASSWORD_PATH: &str = "/reset-password";
/// Where a person who is logged in takes another address.
pub const CONFIRM_EMAIL_PATH: &str = "/settings/confirm-email";
/// Where people come into an account that others have asked them into.
pub const INVITATION_PATH: &str = "/invitation";
/// The member of a link's query that holds its token.
pub const TOKEN: &str = "token";

/// So long somebody has a mail in hand. Sending takes less.
pub const LEASE: Duration = Duration::from_mins(3);

/// Waits before the second, third … try: about twelve hours in all.
const DELAYS: [Duration; 7] = [
    Duration::from_secs(10),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(20),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(8),
];

/// How long to wait after a try has failed, when `failures` have failed before it. `None`: it is given up. `chance`, from
/// 0 to 1, spreads the tries.
pub fn delay(failures: i32, chance: f64) -> Option<Duration> {
    spread(&DELAYS, failures, chance)
}

/// What a mail is about, from the moment when it is caused. What it says is decided when it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// Somebody wants an account with this address.
    VerifyAddress,
    /// Somebody with this address has forgotten the password.
    ResetPassword,
    /// A user wants to take this address.
    ConfirmAddress,
    /// A user wants to leave this address.
    AddressChangeAsked {
        /// For this one.
        new_address: String,
    },
    /// A user has left this address.
    AddressChanged {
        /// For this one.
        new_address: String,
    },
    /// The password was replaced.
    PasswordChanged,
    /// The second factor was turned on.
    SecondFactorOn,
    /// The second factor was turned off: none is left.
    SecondFactorOff,
    /// The app was turned off; passkeys are left.
    AppOff,
    /// A passkey was added.
    PasskeyAdded {
        /// What its user calls it.
        name: String,
    },
    /// A passkey was removed; another factor is left.
    PasskeyRemoved {
        /// What its user called it.
        name: String,
    },
    /// A recovery code stood in for the second factor.
    RecoveryCodeUsed {
        /// How many are left.
        left: i64,
    },
    /// Somebody has logged in with a browser that the user has not used before.
    NewDevice {
        /// What people call it.
        device: String,
        /// From where.
        address: IpAddr,
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        at: OffsetDateTime,
    },
    /// An account is to be deleted.
    DeletionAsked {
        /// Its name.
        account_name: String,
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        delete_at: OffsetDateTime,
    },
    /// Somebody is asked into an account.
    Invitation {
        /// By this.
        invitation: InvitationId,
    },
    /// Somebody was taken out of an account.
    Removed {
        /// What that is called; may be empty.
        account_name: String,
    },
    /// An account has another owner.
    OwnerChanged {
        /// What it is called; may be empty.
        account_name: String,
        /// The address of the new one.
        owner: String,
    },
    /// The archive of an account can be fetched.
    ExportReady {
        /// Its name.
        account_name: String,
        /// Until when.
        #[serde(with = "time::serde::rfc3339")]
        delete_at: OffsetDateTime,
    },
    /// An operator has suspended an account.
    AccountSuspended {
        /// What it is called.
        account: String,
        /// Why, in the operator's words; may be empty.
        reason: String,
    },
    /// An operator has lifted the suspension of an account.
    AccountRestored {
        /// What it is called.
        account: String,
    },
    /// What an account pays for every month could not be collected.
    PaymentFailed {
        /// What the account is called.
        account: String,
        /// What is to be paid for.
        plan: String,
        /// Until then it stays.
        #[serde(with = "time::serde::rfc3339")]
        until: OffsetDateTime,
    },
    /// An account has lost its plan, which was not paid for.
    PlanLost {
        /// What the account is called.
        account: String,
        /// What was to be paid for.
        plan: String,
    },
    /// Most of an account's credits are used, or all of them.
    CreditsUsed {
        /// What the account is called.
        account: String,
        /// How many.
        used: i64,
        /// How many there were.
        own: i64,
        /// What may be used beyond them.
        overage_limit: i64,
        /// When the next ones come.
        #[serde(with = "time::serde::rfc3339")]
        ends_at: OffsetDateTime,
    },
    /// The archive of an account could not be made.
    ExportFailed {
        /// Its name.
        account_name: String,
    },
}

impl Letter {
    /// The word for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::VerifyAddress => "verify_address",
            Self::ResetPassword => "reset_password",
            Self::ConfirmAddress => "confirm_address",
            Self::AddressChangeAsked { .. } => "address_change_asked",
            Self::AddressChanged { .. } => "address_changed",
            Self::PasswordChanged => "password_changed",
            Self::SecondFactorOn => "second_factor_on",
            Self::SecondFactorOff => "second_factor_off",
            Self::AppOff => "app_off",
            Self::PasskeyAdded { .. } => "passkey_added",
            Self::PasskeyRemoved { .. } => "passkey_removed",
            Self::RecoveryCodeUsed { .. } => "recovery_code_used",
            Self::NewDevice { .. } => "new_device",
            Self::DeletionAsked { .. } => "deletion_asked",
            Self::AccountSuspended { .. } => "account_suspended",
            Self::AccountRestored { .. } => "account_restored",
            Self::PaymentFailed { .. } => "payment_failed",
            Self::PlanLost { .. } => "plan_lost",
            Self::CreditsUsed { .. } => "credits_used",
            Self::Invitation { .. } => "invitation",
            Self::Removed { .. } => "removed",
            Self::OwnerChanged { .. } => "owner_changed",
            Self::ExportReady { .. } => "export_ready",
            Self::ExportFailed { .. } => "export_failed",
        }
    }
}

/// A mail as it is read. Holds a secret when it holds a link.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// One line of ours: nothing that anybody wrote into a form.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// The same as a page.
    pub html: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_read_as_it_was_kept() {
        let letter = Letter::AddressChanged {
            new_address: "ann@example.org".to_owned(),
        };
        let kept = serde_json::to_value(&letter).expect("JSON");
        assert_eq!(kept["kind"], letter.kind());
        assert_eq!(serde_json::from_value::<Letter>(kept).expect("a letter"), letter);
    }

    #[test]
    fn a_mail_is_tried_eight_times_over_half_a_day() {
        let waits: Vec<_> = (0..).map_while(|failures| delay(failures, 0.5)).collect();
        let hours = waits.iter().sum::<Duration>().as_secs() / 3600;
        assert_eq!((waits.len(), hours), (7, 12));
    }
}
