//! The part of [`Backend`](super::Backend) for API keys.

use async_trait::async_trait;
use platen_domain::ids::ApiKeyId;

use crate::{
    error::AppError,
    model::{
        api_key::{ApiKeys, KeyDetail, KeySettingsForm, NewKeyForm},
        overview::Span,
    },
};

/// API keys. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait ApiKeyBackend: Send + Sync {
    /// Lists all keys. A key that was just created is included with its secret, once.
    async fn api_keys(&self, new: Option<ApiKeyId>) -> Result<ApiKeys, AppError>;

    /// Returns a key, and the renders that were made with it.
    async fn api_key(&self, id: ApiKeyId, span: Span) -> Result<KeyDetail, AppError>;

    /// Changes the settings of a key. Its mode stays.
    async fn edit_key(&self, id: ApiKeyId, form: KeySettingsForm) -> Result<(), AppError>;

    /// Creates a key. The next call of [`Self::api_keys`] returns its secret.
    async fn create_key(&self, form: NewKeyForm) -> Result<ApiKeyId, AppError>;

    /// Creates a replacement for a key, which stays valid for `overlap_hours`.
    async fn rotate_key(&self, id: ApiKeyId, overlap_hours: u16) -> Result<ApiKeyId, AppError>;

    /// Revokes a key at once, if `name` is its name.
    async fn revoke_key(&self, id: ApiKeyId, name: String) -> Result<(), AppError>;
}
