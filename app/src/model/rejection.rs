//! What is wrong with a form. Without JavaScript it travels in the address of the page, which anybody can make up: so it
//! holds no words, but what words are found for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A field of a form of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// What a person calls themselves.
    Name,
    /// Log-in name.
    Email,
    /// What they call their account.
    AccountName,
    /// A password that is chosen.
    Password,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Name, Self::Email, Self::AccountName, Self::Password];

    /// What it is called in its form, and in the faults that the services find.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Email => "email",
            Self::AccountName => "account_name",
            Self::Password => "password",
        }
    }

    /// What may be in it.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Name => "Your name has 1 to 200 characters.",
            Self::Email => "An email address has one @, something on both sides of it, and no blanks.",
            Self::AccountName => "An account name has 1 to 200 characters.",
            Self::Password => "A password has at least 12 characters.",
        }
    }
}

/// Why a form is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// These fields break their rules.
    Invalid(Vec<Field>),
    /// Nobody has this address and this password.
    WrongCredentials,
    /// It is another password than the person's.
    WrongPassword,
    /// Too many tries.
    TooMany {
        /// Until the next one.
        minutes: u64,
    },
    /// A link of a mail is worthless.
    WorthlessLink,
    /// Somebody has the address.
    EmailTaken,
}

/// A form that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// What was typed; never a password.
    pub typed: Vec<(Field, String)>,
}

impl Rejection {
    /// The fields that break their rules.
    pub fn faulty(&self) -> &[Field] {
        match &self.reason {
            Reason::Invalid(fields) => fields,
            _ => &[],
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Invalid(fields) if fields.len() == 1 => formatter.write_str("One field is not right yet."),
            Reason::Invalid(fields) => write!(formatter, "{} fields are not right yet.", fields.len()),
            Reason::WrongCredentials => formatter.write_str("Email or password is wrong."),
            Reason::WrongPassword => formatter.write_str("This is not the password that you chose."),
            Reason::TooMany { minutes: 1 } => formatter.write_str("Too many tries. Try again in 1 minute."),
            Reason::TooMany { minutes } => write!(formatter, "Too many tries. Try again in {minutes} minutes."),
            Reason::WorthlessLink => {
                formatter.write_str("This link has been used, replaced, or is too old. Ask for a new one.")
            }
            Reason::EmailTaken => formatter.write_str("This address belongs to another account by now."),
        }
    }
}
