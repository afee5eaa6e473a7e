//! The authenticated caller of a request.

use crate::role::{Permission, Role};

use crate::{
    allowed::{AllowedChannels, AllowedTemplates},
    api_key::Scopes,
    client::Client,
    ids::{AccountId, ApiKeyId, UserId},
    plan::PlanLimits,
};

/// A user or an API key, acting for an account. All access to tenant data starts from this account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub account: AccountId,
    /// The API key; `None` if the user is logged in.
    pub key: Option<ApiKeyId>,
    /// The logged-in user, or the creator of the key.
    pub user: User,
    /// The user's role in the account; `None` for a key, whose scopes apply instead.
    pub role: Option<Role>,
    /// The client that made the request, if known.
    pub client: Option<Client>,
    /// What the caller may do through the API.
    pub scopes: Scopes,
    /// The templates that the caller may use.
    pub templates: AllowedTemplates,
    /// The channels whose releases the caller may render and change.
    pub channels: AllowedChannels,
    /// `false` for test keys.
    pub livemode: bool,
    /// The limits of the account.
    pub limits: PlanLimits,
    /// Whether the caller may make changes and see everything.
    pub access: Access,
}

/// What a logged-in user may do in an account, regardless of their role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whatever their role allows.
    Full,
    /// The account is suspended: read-only access.
    Suspended,
    /// The user is an operator who views the account as its owner: read-only access, without documents and secrets.
    Looking,
}

impl Caller {
    /// Returns whether the user's role includes the permission; `false` for keys.
    pub fn may(&self, permission: Permission) -> bool {
        self.role.is_some_and(|role| role.may(permission))
    }

    /// Returns the key whose renders are visible to the caller, or `None` for all. Keys that are restricted to certain
    /// templates see only their own renders.
    pub fn sees_renders_of(&self) -> Option<ApiKeyId> {
        self.key.filter(|_| !self.templates.everything())
    }
}

/// A user, as shown in responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// The email address with which the user logs in.
    pub email: String,
}
