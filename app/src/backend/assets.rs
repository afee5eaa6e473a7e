//! The part of [`Backend`](super::Backend) for assets.

use async_trait::async_trait;
use platen_domain::{asset::AssetFilter, ids::AssetId};

use crate::{
    error::AppError,
    model::asset::{AssetDetail, Assets, Fonts},
};

/// Assets. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait AssetBackend: Send + Sync {
    /// Returns the assets that the filter admits, newest first, after this one, and the upload that led to the page.
    async fn assets(&self, filter: AssetFilter, after: Option<AssetId>) -> Result<Assets, AppError>;

    /// Returns the newest assets whose names contain `search`.
    async fn find_assets(&self, search: &str) -> Result<Vec<(AssetId, String)>, AppError>;

    /// Returns the fonts whose families or names contain `search`.
    async fn fonts(&self, search: Option<String>) -> Result<Fonts, AppError>;

    /// Returns an asset.
    async fn asset(&self, id: AssetId) -> Result<AssetDetail, AppError>;

    /// Replaces the tags of an asset, given with commas between them.
    async fn set_asset_tags(&self, id: AssetId, tags: String) -> Result<(), AppError>;

    /// Deletes an asset.
    async fn delete_asset(&self, id: AssetId) -> Result<(), AppError>;
}
