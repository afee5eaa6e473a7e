//! API keys, as their account sees them.

use platen_domain::{
    api_key::ApiKey,
    ids::{ApiKeyId, TemplateId},
    template::channels::Channels,
};
use time::OffsetDateTime;

use crate::model::overview::RenderActivity;

/// Everything the API keys page shows.
#[derive(Debug, Clone)]
pub struct ApiKeys {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// The newest first, including revoked keys.
    pub keys: Vec<ApiKey>,
    /// Ids and names of the templates to which a key can be restricted.
    pub templates: Vec<(TemplateId, String)>,
    pub channels: Channels,
    /// A key that was just created. It is included only once.
    pub new: Option<NewKey>,
}

/// A key on its own page.
#[derive(Clone)]
pub struct KeyDetail {
    pub key: ApiKey,
    /// Ids and names of the templates to which the key can be restricted.
    pub templates: Vec<(TemplateId, String)>,
    pub channels: Channels,
    /// The renders that were made with it.
    pub renders: RenderActivity,
    /// End of the account's credit period.
    pub period_ends_at: OffsetDateTime,
}

/// A key that was just created.
#[derive(Clone)]
pub struct NewKey {
    pub id: ApiKeyId,
    /// The key itself. It is not stored and can't be shown again.
    pub secret: String,
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The form that creates an API key.
pub struct NewKeyForm {
    /// `false` for a test key. It can't be changed.
    pub live: bool,
    pub settings: KeySettingsForm,
}

/// The settings of an API key that can be changed, as they are typed.
pub struct KeySettingsForm {
    pub name: String,
    pub scopes: Vec<String>,
    pub expiry: Expiry,
    /// Networks from which the key may be used, one per line. Empty: anywhere.
    pub networks: String,
    /// Ids of the templates to which the key is restricted. Empty: unrestricted.
    pub templates: Vec<String>,
    /// Names of the channels to which the key is restricted. Empty: unrestricted.
    pub channels: Vec<String>,
    /// Credits that a live key may use in each month. Empty: as many as the account has.
    pub credit_limit: String,
}

/// Expiry of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    Never,
    /// After this number of days.
    InDays(u16),
    /// At the end of this day in UTC, such as `2026-11-21`.
    WithDay(String),
}
