//! Members of an account.

use platen_domain::{
    account_log::LogEntry,
    ids::UserId,
    role::Role,
    team::{Invitation, Member},
};
use time::OffsetDateTime;

/// Members and invitations of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// Display name of the account; never empty.
    pub account: String,
    /// The logged-in user.
    pub viewer: UserId,
    /// Role of the logged-in user.
    pub role: Role,
    /// Whether the logged-in user belongs to no other account.
    pub only_account: bool,
    /// The owner first.
    pub members: Vec<Member>,
    /// The latest first. Empty for users who may not invite.
    pub invitations: Vec<Invitation>,
}

/// An account of the logged-in user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAccount {
    pub id: String,
    /// Display name; never empty.
    pub name: String,
    /// Whether the session acts for this account.
    pub current: bool,
}

/// A search in an account's activity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// Id of a user.
    pub person: Option<String>,
    pub topic: Option<String>,
    /// Cursor: only events before this one.
    pub after: Option<String>,
}

/// A page of an account's activity.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The latest first.
    pub entries: Vec<LogEntry>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// Id and email address of each user with events.
    pub people: Vec<(String, String)>,
    /// All topics.
    pub topics: Vec<&'static str>,
    /// Days for which events are retained.
    pub days: i32,
}
