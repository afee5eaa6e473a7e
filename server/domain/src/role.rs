//! Roles and their permissions: one table for the services' decisions and for pages.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Role of a member. Each role includes the permissions of those before it. The names are used in forms and in the
/// database.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Member,
    Admin,
    /// Each account has exactly one.
    Owner,
}

/// A permission of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
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
    /// Manage webhook endpoints, view deliveries and the signing secret, and replace the secret.
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
    /// Returns whether the role has the permission.
    pub fn may(self, permission: Permission) -> bool {
        self >= permission.takes()
    }
}

/// Reads a column. An unknown role, which comes from a newer release, becomes the one with the fewest permissions.
impl From<String> for Role {
    fn from(column: String) -> Self {
        column.parse().unwrap_or(Self::Member)
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
            Permission::VARIANTS
                .iter()
                .filter(|permission| role.may(**permission))
                .count()
        };
        assert_eq!([Role::Member, Role::Admin, Role::Owner].map(may), [2, 7, 12]);
        for permission in Permission::VARIANTS {
            assert!(Role::Owner.may(*permission), "{permission:?}");
        }
    }

    #[test]
    fn a_role_is_read_as_it_is_written() {
        for role in Role::VARIANTS {
            assert_eq!(role.into_str().parse(), Ok(*role));
        }
        assert!("Owner".parse::<Role>().is_err());
    }
}
