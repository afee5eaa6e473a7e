//! Server functions of the page of assets.

use leptos::prelude::*;
use platen_domain::ids::AssetId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
    pages::assets::PATH,
};

/// Replaces the tags of an asset of the logged-in user's account.
#[server(prefix = "/web", endpoint = "set-asset-tags")]
pub async fn set_asset_tags(
    /// Id of the asset.
    id: AssetId,
    /// With commas between them.
    #[server(default)]
    tags: String,
) -> Result<(), AppError> {
    backend().set_asset_tags(id, tags).await?;
    let saved = OwnPath::parse(&format!("{PATH}/{id}?done=saved"));
    leave_for(saved.unwrap_or_else(|| PATH.into()))
}

/// Deletes an asset of the logged-in user's account.
#[server(prefix = "/web", endpoint = "delete-asset")]
pub async fn delete_asset(
    /// Id of the asset.
    id: AssetId,
) -> Result<(), AppError> {
    backend().delete_asset(id).await?;
    leave_for("/dashboard/assets?done=deleted")
}
