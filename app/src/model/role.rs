//! What members of an account may do: one table, by which the services decide and pages show.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What somebody is in an account. Each role may do all that those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Works with it.
    Member,
    /// Runs it.
    Admin,
    /// Holds it; there is one.
    Owner,
}

/// What a role may allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Look at the account: how it stands, what it has used, who its members are.
    SeeAccount,
    /// Work with templates, the playground and renders.
    Produce,
    /// Invite and remove people, and change their roles.
    ManagePeople,
    /// Look at API keys, make and end them.
    ManageKeys,
    /// Look at storage connections, make, test and delete them.
    ManageDestinations,
    /// Look at callbacks, and at the secret that signs them; replace it.
    ManageWebhooks,
    /// Read who did what.
    ReadLog,
    /// Change the plan, and pay.
    ManageBilling,
    /// Decide what holds for the whole account: its name, what it keeps.
    SetPolicy,
    /// Take along all that belongs to the account.
    ExportAccount,
    /// Delete the account.
    DeleteAccount,
    /// Make another member the owner.
    TransferOwnership,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::SeeAccount,
        Self::Produce,
        Self::ManagePeople,
        Self::ManageKeys,
        Self::ManageDestinations,
        Self::ManageWebhooks,
        Self::ReadLog,
        Self::ManageBilling,
        Self::SetPolicy,
        Self::ExportAccount,
        Self::DeleteAccount,
        Self::TransferOwnership,
    ];

    /// The table: which role it takes at least.
    pub fn takes(self) -> Role {
        match self {
            Self::SeeAccount | Self::Produce => Role::Member,
            Self::ManagePeople | Self::ManageKeys | Self::ManageDestinations | Self::ManageWebhooks | Self::ReadLog => {
                Role::Admin
            }
            Self::ManageBilling
            | Self::SetPolicy
            | Self::ExportAccount
            | Self::DeleteAccount
            | Self::TransferOwnership => Role::Owner,
        }
    }
}

impl Role {
    /// All of them, the one that may least first.
    pub const ALL: [Self; 3] = [Self::Member, Self::Admin, Self::Owner];

    /// Whether the role allows it.
    pub fn may(self, permission: Permission) -> bool {
        self >= permission.takes()
    }

    /// The word used in forms and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// The role that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// For people.
impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Member => "Member",
            Self::Admin => "Admin",
            Self::Owner => "Owner",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_more_may_all_that_others_may() {
        let may = |role: Role| {
            Permission::ALL
                .iter()
                .filter(|permission| role.may(**permission))
                .count()
        };
        assert_eq!(Role::ALL.map(may), [2, 7, 12]);
        for permission in Permission::ALL {
            assert!(Role::Owner.may(permission), "{permission:?}");
        }
    }

    #[test]
    fn a_role_is_read_as_it_is_written() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!(Role::parse("Owner"), None);
    }
}
