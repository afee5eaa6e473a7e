//! People who share an account.

use time::OffsetDateTime;

use crate::model::role::Role;

/// Who belongs to an account, as one of them sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// What the account is called; never empty.
    pub account: String,
    /// What whoever looks is in it.
    pub role: Role,
    /// Whether whoever looks belongs to no other account.
    pub only_account: bool,
    /// The owner first.
    pub members: Vec<Member>,
    /// The latest first; none, for those who may not invite.
    pub invitations: Vec<Invitation>,
}

/// Somebody who belongs to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The user.
    pub id: String,
    /// Their name or, without one, their address.
    pub called: String,
    /// Log-in name.
    pub email: String,
    /// What they are.
    pub role: Role,
    /// When they last did something for the account.
    pub seen_at: Option<OffsetDateTime>,
    /// Whether they are who looks.
    pub themselves: bool,
}

/// Somebody who is asked in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its name; not what its link holds.
    pub id: String,
    /// Who can come.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// Who asked.
    pub invited_by: String,
    /// When the latest mail was caused.
    pub invited_at: OffsetDateTime,
    /// Until when they can come.
    pub expires_at: OffsetDateTime,
}

/// What the link of an invitation shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedInvitation {
    /// What the account is called, if it has a name.
    pub account: String,
    /// What whoever comes will be.
    pub role: Role,
    /// Who can come.
    pub email: String,
    /// Who asked.
    pub invited_by: String,
    /// Who looks at it.
    pub guest: Guest,
}

/// Who looks at an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guest {
    /// Whoever it is for.
    Themselves,
    /// Somebody who is logged in under this other address.
    SomebodyElse(String),
    /// Whoever it is for can log in.
    LoggedOut,
    /// Whoever it is for is new here.
    New,
}

/// One of the accounts that a person belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAccount {
    /// Identifier.
    pub id: String,
    /// What it is called; never empty.
    pub name: String,
    /// Whether they act for it at this moment.
    pub current: bool,
}

/// What is looked for in the log of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// A user.
    pub person: Option<String>,
    /// What it is about.
    pub topic: Option<String>,
    /// Only what came before this entry.
    pub after: Option<String>,
}

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// The latest first.
    pub entries: Vec<LogEntry>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// Who has done something: user and address.
    pub people: Vec<(String, String)>,
    /// What the log may be about.
    pub topics: Vec<&'static str>,
    /// For how many days it is kept.
    pub days: i32,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub who: String,
    /// Whether that is a key.
    pub by_key: bool,
    /// What, without who.
    pub what: String,
    /// From where.
    pub address: Option<String>,
    /// With what: `Firefox on Linux`.
    pub device: Option<String>,
}
