//! The pages of assets.

use platen_domain::{
    asset::{Asset, AssetUsers, UploadReport},
    ids::AssetId,
    page::Page,
};

/// A page of the list of assets.
#[derive(Debug, Clone)]
pub struct Assets {
    /// With the templates that use them, newest first.
    pub found: Page<(Asset, AssetUsers), AssetId>,
    /// The upload that led to the page.
    pub upload: Option<UploadReport>,
}

/// Fonts of an account.
#[derive(Debug, Clone)]
pub struct Fonts {
    /// The first ones, in the order of their names.
    pub fonts: Vec<Asset>,
    /// Number of the others.
    pub left_out: usize,
    /// The upload that led to the page.
    pub upload: Option<UploadReport>,
}

/// An asset with the templates that use it.
#[derive(Debug, Clone)]
pub struct AssetDetail {
    pub asset: Asset,
    pub users: AssetUsers,
}
