//! Assets.

use std::{num::NonZeroU16, slice};

use async_trait::async_trait;
use platen_app::{
    backend::assets::AssetBackend,
    error::AppError,
    model::{
        asset::{AssetDetail, Assets, Fonts},
        rejection::Field,
    },
};
use platen_core::service::assets;
use platen_domain::{
    allowed::AllowedTemplates,
    asset::{self, Asset, AssetFilter, AssetReplacement},
    ids::AssetId,
    page::{Page, PageRequest},
    role::Permission::Produce,
};

use crate::web::backend::{RequestBackend, visitor_errors::invalid};

/// Maximum number of assets in the results of a search.
const FOUND_ASSETS: NonZeroU16 = NonZeroU16::MIN.saturating_add(5);
/// Number of assets on a page of their list.
const ASSET_PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);

#[async_trait]
impl AssetBackend for RequestBackend {
    async fn assets(&self, filter: AssetFilter, after: Option<AssetId>) -> Result<Assets, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let page = PageRequest::after(after, ASSET_PAGE);
        let found = self.answer(assets::list(&self.app.db, account, &filter, page).await)?;
        let users = assets::users(&self.app.db, account, &AllowedTemplates::default(), &found.items).await;
        let mut users = self.answer(users)?;
        let with_users = |asset: Asset| {
            let users = users.remove(&asset.id).unwrap_or_default();
            (asset, users)
        };
        let found = Page {
            items: found.items.into_iter().map(with_users).collect(),
            next: found.next,
        };
        let upload = self.take_upload_report(account).await?;
        Ok(Assets { found, upload })
    }

    async fn find_assets(&self, search: &str) -> Result<Vec<(AssetId, String)>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let filter = AssetFilter {
            name: Some(search.to_owned()),
            tag: None,
        };
        let page = PageRequest::after(None, FOUND_ASSETS);
        let found = assets::list(&self.app.db, account, &filter, page).await;
        let found = self.answer(found)?.items.into_iter();
        Ok(found.map(|asset| (asset.id, asset.name)).collect())
    }

    async fn fonts(&self, search: Option<String>) -> Result<Fonts, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let found = assets::find_fonts(&self.app.db, account, search.as_deref()).await;
        let (fonts, left_out) = self.answer(found)?;
        Ok(Fonts {
            fonts,
            left_out,
            upload: self.take_upload_report(account).await?,
        })
    }

    async fn asset(&self, id: AssetId) -> Result<AssetDetail, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let asset = self.answer(assets::get(&self.app.db, account, id).await)?;
        let users = assets::users(
            &self.app.db,
            account,
            &AllowedTemplates::default(),
            slice::from_ref(&asset),
        )
        .await;
        let users = self.answer(users)?.remove(&id).unwrap_or_default();
        Ok(AssetDetail { asset, users })
    }

    async fn set_asset_tags(&self, id: AssetId, tags: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let tags = asset::tags::of_text(&tags).map_err(|_| invalid(vec![Field::Tags]))?;
        let replacement = AssetReplacement {
            content: None,
            tags: Some(tags),
        };
        let replaced = assets::replace(&self.app, &caller, id, replacement).await;
        self.answer(replaced).map(drop)
    }

    async fn delete_asset(&self, id: AssetId) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(assets::delete(&self.app.db, &caller, id).await)
    }
}
