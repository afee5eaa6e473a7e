//! The account's API keys.

use async_trait::async_trait;

use crate::{error::AppError, model::api_key::ApiKeys};

/// The form that creates an API key.
pub struct KeyForm {
    pub name: String,
    /// `false` for a test key.
    pub live: bool,
    pub scopes: Vec<String>,
    pub expiry: Expiry,
    /// Networks from which the key may be used, one per line. Empty: anywhere.
    pub networks: String,
    /// Ids of the templates to which the key is restricted. Empty: unrestricted.
    pub templates: Vec<String>,
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

/// The account's keys.
#[async_trait]
pub trait ApiKeyBackend: Send + Sync {
    /// Lists all keys. A key that was just created is included with its secret, once.
    async fn api_keys(&self) -> Result<ApiKeys, AppError>;

    /// Creates a key. The next call of [`Self::api_keys`] returns its secret.
    async fn create_key(&self, form: KeyForm) -> Result<(), AppError>;

    /// Creates a replacement for a key, which stays valid for `overlap_hours`.
    async fn rotate_key(&self, id: String, overlap_hours: u16) -> Result<(), AppError>;

    /// Revokes a key at once, if `name` is its name.
    async fn revoke_key(&self, id: String, name: String) -> Result<(), AppError>;
}
