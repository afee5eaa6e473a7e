//! Members of an account.

use std::collections::HashMap;

use platen_domain::{
    account_log::LogEntry,
    ids::{AccountId, EventId, UserId},
    page::Page,
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
    pub id: AccountId,
    /// Display name; never empty.
    pub name: String,
    /// Whether the session acts for this account.
    pub current: bool,
}

/// A page of an account's activity.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The latest first.
    pub entries: Page<LogEntry, EventId>,
    /// Id and email address of each user with events.
    pub people: Vec<(UserId, String)>,
    /// Names of the account's members, by email address. Only for those who have a name.
    pub names: HashMap<String, String>,
    /// Days for which events are retained.
    pub days: i32,
}
