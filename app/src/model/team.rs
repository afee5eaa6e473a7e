//! Members of an account.

use platen_domain::role::Role;
use time::OffsetDateTime;

/// Members and invitations of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// Display name of the account; never empty.
    pub account: String,
    /// Role of the logged-in user.
    pub role: Role,
    /// Whether the logged-in user belongs to no other account.
    pub only_account: bool,
    /// The owner first.
    pub members: Vec<Member>,
    /// The latest first. Empty for users who may not invite.
    pub invitations: Vec<Invitation>,
}

/// A member of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Id of the user.
    pub id: String,
    /// Their name, or their email address if they have none.
    pub called: String,
    pub email: String,
    pub role: Role,
    /// Time of their last action for the account.
    pub seen_at: Option<OffsetDateTime>,
    /// Whether this is the logged-in user.
    pub themselves: bool,
}

/// An invitation to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Not the token of its link.
    pub id: String,
    /// Email address of the invited user.
    pub email: String,
    /// Role of the future member.
    pub role: Role,
    /// The inviting member.
    pub invited_by: String,
    /// Time of the latest mail.
    pub invited_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

/// An invitation, as its link shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedInvitation {
    /// Name of the account; may be empty.
    pub account: String,
    /// Role of the future member.
    pub role: Role,
    /// Email address of the invited user.
    pub email: String,
    /// The inviting member.
    pub invited_by: String,
    /// The visitor who opened the link.
    pub guest: Guest,
}

/// The visitor who opens an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guest {
    /// The invited user, logged in.
    Themselves,
    /// A user who is logged in with this other email address.
    SomebodyElse(String),
    /// Not logged in; the invited user has a log-in.
    LoggedOut,
    /// Not logged in; the invited user has no log-in yet.
    New,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// An audit event of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub at: OffsetDateTime,
    /// The actor.
    pub who: String,
    /// Whether the actor is a key.
    pub by_key: bool,
    /// The action, without the actor.
    pub what: String,
    /// The actor's IP address.
    pub address: Option<String>,
    /// The actor's browser, such as `Firefox on Linux`.
    pub device: Option<String>,
}
