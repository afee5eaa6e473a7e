//! Roles and their permissions: one table for the services' decisions and for pages.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Role of a member. Each role includes the permissions of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Member,
    Admin,
    /// Each account has exactly one.
    Owner,
}

/// A permission of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// View the account: its status, its usage and its members.
    SeeAccount,
    /// Work with templates, the playground and renders.
    Produce,
    /// Invite and remove members, and change their roles.
    ManagePeople,
    /// View, create and revoke API keys.
    ManageKeys,
    /// View, create, test and delete storage connections.
    ManageDestinations,
    /// View webhook deliveries and the signing secret, and replace the secret.
    ManageWebhooks,
    /// View the account's activity.
    ReadLog,
    /// Change the plan and pay.
    ManageBilling,
    /// Change settings of the whole account, such as its name and what it stores.
    SetPolicy,
    /// Export all data of the account.
    ExportAccount,
    DeleteAccount,
    /// Make another member the owner.
    TransferOwnership,
}

impl Permission {
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

    /// Returns the lowest role that has the permission.
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
    /// From the fewest to the most permissions.
    pub const ALL: [Self; 3] = [Self::Member, Self::Admin, Self::Owner];

    /// Returns whether the role has the permission.
    pub fn may(self, permission: Permission) -> bool {
        self >= permission.takes()
    }

    /// Returns the value in forms and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// The name for users.
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
