//! Assets of the account.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_domain::{
    asset::{self, AssetCreation},
    ids::AssetId,
};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{Server, ServerError, next_page};
use crate::cli::{client::Data, templates::folder::assets::MOST_ASSETS};

/// The list.
const PATH: &str = "/api/v1/assets";
/// Assets that are requested together.
const PAGE_SIZE: usize = 100;

/// An asset of the account.
#[derive(Debug, Deserialize)]
pub(in super::super) struct StoredAsset {
    id: AssetId,
    name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub(in super::super) sha256: String,
}

impl Server {
    /// Returns the account's assets by their names. The account may have at most [`MOST_ASSETS`].
    pub(in super::super) async fn assets(&self) -> Result<BTreeMap<String, StoredAsset>, ServerError> {
        let mut path = format!("{PATH}?page_size={PAGE_SIZE}");
        let mut assets = BTreeMap::new();
        for _ in 0..=MOST_ASSETS / PAGE_SIZE {
            let response = self.send(Method::GET, &path, None).await?;
            let next = next_page(&response, PATH);
            let page: Data<Vec<StoredAsset>> = self.read(response).await?;
            for asset in page.data {
                // Names become paths.
                if asset::name_problem(&asset.name).is_some() {
                    return Err(self.unusable(&"an asset has an invalid name"));
                }
                assets.insert(asset.name.clone(), asset);
            }
            match next {
                Some(next) => path = next,
                None => return Ok(assets),
            }
        }
        Err(self.unusable(&format!("the list has more than {MOST_ASSETS} assets")))
    }

    /// Returns the content of an asset, if it is still that of the list.
    pub(in super::super) async fn content_of_asset(&self, asset: &StoredAsset) -> Result<Vec<u8>, ServerError> {
        let path = format!("{PATH}/{}/content", asset.id);
        let response = self.send(Method::GET, &path, None).await?;
        let content = self.0.bytes(response).await?;
        if asset::sha256(&content) != asset.sha256 {
            return Err(self.unusable(&format!("asset:{} has other content than its SHA-256 says", asset.name)));
        }
        Ok(content)
    }

    /// Creates an asset, or replaces the content of the stored one with its name.
    pub(in super::super) async fn store_asset(
        &self,
        stored: Option<&StoredAsset>,
        asset: &AssetCreation,
    ) -> Result<(), ServerError> {
        let content = BASE64_STANDARD.encode(&asset.content);
        if let Some(stored) = stored {
            let body = json!({ "asset": { "content": content } });
            let path = format!("{PATH}/{}", stored.id);
            self.send(Method::PUT, &path, Some(&body)).await?;
        } else {
            let body = json!({ "asset": { "name": asset.name, "content": content } });
            self.send(Method::POST, PATH, Some(&body)).await?;
        }
        Ok(())
    }
}
