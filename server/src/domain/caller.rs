//! Who makes a request, once that is proved.

use crate::domain::{
    allowed_templates::AllowedTemplates,
    api_key::Scopes,
    ids::{AccountId, ApiKeyId, UserId},
    plan::PlanLimits,
};

/// What an API key stands for. Every use of tenant data begins with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account that the key belongs to.
    pub account: AccountId,
    /// The key.
    pub key: ApiKeyId,
    /// Who created the key.
    pub user: User,
    /// What the key may do.
    pub scopes: Scopes,
    /// Which templates the key may use.
    pub templates: AllowedTemplates,
    /// False for test keys.
    pub livemode: bool,
    /// How much the account may ask for.
    pub limits: PlanLimits,
}

impl Caller {
    /// A key for certain templates sees the renders that were asked for with it, and no others.
    pub fn sees_renders_of(&self) -> Option<ApiKeyId> {
        (!self.templates.everything()).then_some(self.key)
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
