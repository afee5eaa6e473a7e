//! Who makes a request, once that is proved.

use platen_app::model::role::{Permission, Role};

use crate::domain::{
    allowed_templates::AllowedTemplates,
    api_key::Scopes,
    client::Client,
    ids::{AccountId, ApiKeyId, UserId},
    plan::PlanLimits,
};

/// A person, or somebody with a key, for an account. Every use of tenant data begins with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub account: AccountId,
    /// With which key; `None`: the person is logged in.
    pub key: Option<ApiKeyId>,
    /// Who is logged in, or created the key.
    pub user: User,
    /// What the person is in the account; `None`: a key, whose scopes say everything.
    pub role: Option<Role>,
    /// Where the request comes from, as far as that is known.
    pub client: Option<Client>,
    /// What they may do by the API.
    pub scopes: Scopes,
    /// Which templates they may use.
    pub templates: AllowedTemplates,
    /// False for test keys.
    pub livemode: bool,
    /// How much the account may ask for.
    pub limits: PlanLimits,
    /// Whether they may change anything, and see everything.
    pub access: Access,
}

/// How far somebody who is logged in gets with an account, whatever their role in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// As far as their role allows.
    Full,
    /// The account is suspended: they read.
    Suspended,
    /// They are an operator who looks at it as its owner: they read, but neither documents nor secrets.
    Looking,
}

impl Caller {
    /// Whether a person's role allows it.
    pub fn may(&self, permission: Permission) -> bool {
        self.role.is_some_and(|role| role.may(permission))
    }

    /// A key for certain templates sees the renders that were asked for with it, and no others.
    pub fn sees_renders_of(&self) -> Option<ApiKeyId> {
        self.key.filter(|_| !self.templates.everything())
    }
}

/// On whose behalf the engine renders.
impl From<&Caller> for platen_engine::job::Caller {
    fn from(caller: &Caller) -> Self {
        Self {
            account: caller.account.0,
            concurrency: caller.limits.concurrency,
        }
    }
}

/// A person, as answers show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Stable identifier.
    pub id: UserId,
    /// Log-in name.
    pub email: String,
}
