//! The page of assets.

use platen_domain::{
    asset::{Asset, UploadReport},
    ids::AssetId,
    page::Page,
};

/// A page of the list of assets.
#[derive(Debug, Clone)]
pub struct Assets {
    /// Newest first.
    pub found: Page<Asset, AssetId>,
    /// The upload that led to the page.
    pub upload: Option<UploadReport>,
}
