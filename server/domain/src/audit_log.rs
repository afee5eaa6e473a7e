//! The operator audit log: actions of operators and the service. The database maintains the hash chain of its rows.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    audit_events::audit_events,
    ids::{AccountId, UserId},
    operator::Operator,
};

audit_events! {
    /// An audit event of an operator or the service. Contains no secrets.
    AuditEvent;
    OperatorAppointed { email: String } "operator.appointed" "made {email} an operator";
    OperatorDismissed { email: String } "operator.dismissed" "removed {email} from the operators";
    SecondFactorRemoved { email: String } "user.second_factor_removed" "removed the second factor of {email}";
    AccountSuspended { told: String } "account.suspended" "suspended the account, {told}";
    AccountRestored {} "account.restored" "lifted the suspension of the account";
    AccountDeleted { asked_by: String } "account.deleted" "deleted the account, requested by {asked_by}";
    CreditsGranted { credits: i64, until: String } "credits.granted" "granted {credits} credits until {until}";
    PlanSet { from: String, to: String } "plan.set" "changed the plan from {from} to {to}";
    LimitsSet { limits: String } "plan.limits_set" "set limits: {limits}";
    LookBegun { minutes: i64 } "look.begun" "viewed the account as its owner, for up to {minutes} minutes";
    LookEnded {} "look.ended" "stopped viewing the account";
    WorkRetried { work: String, ids: String } "work.retried" "retried {work} ({ids})";
    WorkDiscarded { work: String, ids: String } "work.discarded" "discarded {work} ({ids})";
    Announced { words: String } "announcement.made" "announced: {words}";
    AnnouncementEnded { words: String } "announcement.ended" "ended the announcement: {words}";
}

/// The actor of an audit event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum AuditActor {
    /// A user in the operators' area.
    Operator {
        id: UserId,
        /// The user's email address at that time.
        email: String,
        /// The user's IP address.
        address: String,
    },
    /// A user who may run commands on the machine.
    CommandLine,
    /// The service itself.
    Service,
}

impl AuditActor {
    /// Returns the actor for an operator.
    pub fn of_operator(operator: &Operator) -> Self {
        Self::Operator {
            id: operator.user.id,
            email: operator.user.email.clone(),
            address: operator.client.address.to_string(),
        }
    }

    /// Returns the display name of the actor.
    pub fn who(&self) -> &str {
        match self {
            Self::Operator { email, .. } => email,
            Self::CommandLine => "command line",
            Self::Service => "service",
        }
    }

    /// Returns the actor's IP address; `None` for the command line and the service.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Operator { address, .. } => Some(address),
            Self::CommandLine | Self::Service => None,
        }
    }
}

/// The content of an entry, over which the digest is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub by: AuditActor,
    /// The account concerned, if any.
    pub account: Option<AccountId>,
    /// The account's name at that time, or its owner's email address.
    pub account_name: Option<String>,
    /// The event; read as `None` if another release wrote a kind that is unknown here.
    #[serde(rename = "deed", deserialize_with = "known_event")]
    pub event: Option<AuditEvent>,
    /// The operator's reason; may be empty.
    pub reason: String,
}

fn known_event<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<AuditEvent>, D::Error> {
    let event = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(event).ok())
}

/// The reason of an operator's action, recorded with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason(String);

/// The text is empty or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reason has 1 to {MOST_OF_A_REASON} characters")]
pub struct InvalidReason;

const MOST_OF_A_REASON: usize = 500;

impl Reason {
    /// Returns the trimmed text; empty if a command was given none.
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

/// A row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Position in the chain, from 1.
    pub number: i64,
    pub happened_at: OffsetDateTime,
    /// Kind of the event.
    pub kind: String,
    pub entry: AuditEntry,
}

impl AuditRow {
    /// Returns a description of the event for display.
    pub fn what(&self) -> String {
        let event = self.entry.event.as_ref();
        event.map_or_else(|| self.kind.clone(), AuditEvent::sentence)
    }
}

/// A filter for audit events; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// An `ilike` pattern, matched against account, actor and reason.
    pub text: Option<String>,
    /// Kind of event.
    pub kind: Option<String>,
    /// Inclusive.
    pub from: Option<OffsetDateTime>,
    /// Exclusive.
    pub before: Option<OffsetDateTime>,
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
            by: AuditActor::CommandLine,
            account: Some(AccountId::generate()),
            account_name: Some("Finch".to_owned()),
            event: Some(AuditEvent::CreditsGranted {
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
        assert_eq!(read, AuditEntry { event: None, ..entry });
    }
}
