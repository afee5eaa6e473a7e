//! What pages ask about API keys.

use async_trait::async_trait;

use crate::{error::AppError, model::api_key::ApiKeys};

/// What somebody types who wants a key.
pub struct KeyForm {
    /// For people.
    pub name: String,
    /// False for a test key.
    pub live: bool,
    /// What it may do.
    pub scopes: Vec<String>,
    /// When it expires.
    pub expiry: Expiry,
    /// Where it may be used from, one network a line; empty: anywhere.
    pub networks: String,
    /// Which templates it is for; none: everything.
    pub templates: Vec<String>,
}

/// When a key expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// After so many days.
    InDays(u16),
    /// With the end of this day, `2026-11-21`, in UTC.
    WithDay(String),
}

/// The account's keys.
#[async_trait]
pub trait ApiKeyBackend: Send + Sync {
    /// All of them. A key that was just made is among the answer once.
    async fn api_keys(&self) -> Result<ApiKeys, AppError>;

    /// Makes a key, which the next [`Self::api_keys`] shows.
    async fn create_key(&self, form: KeyForm) -> Result<(), AppError>;

    /// Makes a key in place of another one, which goes on for so many hours.
    async fn rotate_key(&self, id: String, overlap_hours: u16) -> Result<(), AppError>;

    /// Ends a key at once, if its name was typed rightly.
    async fn revoke_key(&self, id: String, name: String) -> Result<(), AppError>;
}
