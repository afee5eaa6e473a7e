//! Server functions of the page of assets.

use leptos::prelude::*;
use platen_domain::ids::AssetId;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
};

/// Deletes an asset of the logged-in user's account.
#[server(prefix = "/web", endpoint = "delete-asset")]
pub async fn delete_asset(
    /// Id of the asset.
    id: AssetId,
) -> Result<(), AppError> {
    backend().delete_asset(id).await?;
    leave_for("/dashboard/assets?done=deleted")
}
