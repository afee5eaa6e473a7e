//! What operators and the service did to accounts, for those who answer for the service. The chain of rows that it is
//! written in is made by the database.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::{
    deeds::deeds,
    ids::{AccountId, UserId},
    operator::Operator,
};

deeds! {
    /// Something that was done by who runs the service. Holds no secrets.
    AuditDeed;
    OperatorAppointed { email: String } "operator.appointed" "made {email} an operator";
    OperatorDismissed { email: String } "operator.dismissed" "took {email} out of the operators";
    SecondFactorRemoved { email: String } "user.second_factor_removed" "removed the second factor of {email}";
    AccountSuspended { told: String } "account.suspended" "suspended, {told}";
    AccountRestored {} "account.restored" "lifted the suspension";
    AccountDeleted { asked_by: String } "account.deleted" "deleted, asked by {asked_by}";
    CreditsGranted { credits: i64, until: String } "credits.granted" "granted {credits} credits until {until}";
    PlanSet { from: String, to: String } "plan.set" "changed the plan from {from} to {to}";
    LimitsSet { limits: String } "plan.limits_set" "set limits: {limits}";
    LookBegun { minutes: i64 } "look.begun" "looked as the owner, for {minutes} minutes at most";
    LookEnded {} "look.ended" "stopped looking";
    WorkRetried { work: String, ids: String } "work.retried" "let {work} be tried again ({ids})";
    WorkDiscarded { work: String, ids: String } "work.discarded" "discarded {work} ({ids})";
    Announced { words: String } "announcement.made" "announced: {words}";
    AnnouncementEnded { words: String } "announcement.ended" "ended the announcement: {words}";
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum AuditDoer {
    /// Somebody in the operators' area.
    Operator {
        /// The user.
        id: UserId,
        /// Their address at that time.
        email: String,
        /// Where they were.
        address: String,
    },
    /// Whoever may run commands on the machine.
    CommandLine,
    /// The service, by itself.
    Service,
}

impl AuditDoer {
    /// An operator.
    pub fn of_operator(operator: &Operator) -> Self {
        Self::Operator {
            id: operator.user.id,
            email: operator.user.email.clone(),
            address: operator.client.address.to_string(),
        }
    }

    /// Who it was, for people.
    pub fn who(&self) -> &str {
        match self {
            Self::Operator { email, .. } => email,
            Self::CommandLine => "command line",
            Self::Service => "service",
        }
    }

    /// Where they were.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Operator { address, .. } => Some(address),
            Self::CommandLine | Self::Service => None,
        }
    }
}

/// What is digested: who did what to which account, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Who.
    pub by: AuditDoer,
    /// To which account, if it is about one.
    pub account: Option<AccountId>,
    /// What that was called then: its name, or its owner's address.
    pub account_name: Option<String>,
    /// What; `None` when read: another release wrote it.
    #[serde(deserialize_with = "known_deed")]
    pub deed: Option<AuditDeed>,
    /// Why, in the operator's words; may be empty.
    pub reason: String,
}

fn known_deed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<AuditDeed>, D::Error> {
    let deed = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(deed).ok())
}

/// Why an operator does something: it is written down beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason(String);

/// The text is no reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reason has 1 to {MOST_OF_A_REASON} characters")]
pub struct InvalidReason;

const MOST_OF_A_REASON: usize = 500;

impl Reason {
    /// Without blanks around it; empty where a command was given none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Reason {
    type Err = InvalidReason;

    fn from_str(text: &str) -> Result<Self, InvalidReason> {
        let text = text.trim();
        let sound = (1..=MOST_OF_A_REASON).contains(&text.chars().count()) && !text.contains('\0');
        sound.then(|| Self(text.to_owned())).ok_or(InvalidReason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_says_something() {
        assert_eq!(
            " Ticket 4410 ".parse::<Reason>().map(|reason| reason.0),
            Ok("Ticket 4410".to_owned())
        );
        for text in ["", "  ", "a\0", &"x".repeat(501)] {
            assert_eq!(text.parse::<Reason>(), Err(InvalidReason), "{text:?}");
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_kept() {
        let entry = AuditEntry {
            at_ms: 1_795_000_000_123,
            by: AuditDoer::CommandLine,
            account: Some(AccountId::generate()),
            account_name: Some("Finch".to_owned()),
            deed: Some(AuditDeed::CreditsGranted {
                credits: 500,
                until: "used up".to_owned(),
            }),
            reason: "outage".to_owned(),
        };
        let mut kept = serde_json::to_value(&entry).expect("JSON");
        assert_eq!(kept["deed"]["kind"], "credits.granted");
        assert_eq!(
            serde_json::from_value::<AuditEntry>(kept.clone()).expect("an entry"),
            entry
        );
        kept["deed"]["kind"] = "of.tomorrow".into();
        let read: AuditEntry = serde_json::from_value(kept).expect("an entry");
        assert_eq!(read, AuditEntry { deed: None, ..entry });
    }
}
