//! Members of accounts, and invitations to them.

use time::OffsetDateTime;

use crate::{
    ids::{AccountId, InvitationId, UserId},
    role::Role,
};

/// A member of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub user: UserId,
    /// May be empty.
    pub name: String,
    pub email: String,
    pub role: Role,
    /// When they last acted for the account; up to some minutes late.
    pub seen_at: Option<OffsetDateTime>,
}

impl Member {
    /// Returns the name or, if that is empty, the email address.
    pub fn called(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
    }
}

/// A pending invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub id: InvitationId,
    /// Address of the invited person.
    pub email: String,
    /// Role after acceptance.
    pub role: Role,
    /// Display name of the inviting member at that time.
    pub invited_by: String,
    /// When the latest mail was requested.
    pub invited_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

/// An invitation found by its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedInvitation {
    pub account: AccountId,
    /// May be empty.
    pub account_name: String,
    /// Address of the invited person.
    pub email: String,
    /// Role after acceptance.
    pub role: Role,
    /// Display name of the inviting member at that time.
    pub invited_by: String,
}

/// Visitor who opened an invitation's link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guest {
    /// The invited user, logged in.
    Themselves,
    /// A user who is logged in with this other address.
    OtherUser(String),
    /// Not logged in; the invited address has a user.
    LoggedOut,
    /// Not logged in; the invited address has no user.
    New,
}
