//! The assets of an account during a render: each is loaded when a page, header or footer first requests it.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use platen_domain::{asset, encryption::DataKey, ids::AccountId};
use platen_egress::assets::{Asset, AssetLibrary};
use platen_engine::{
    Entered,
    error::RenderError,
    job::{RenderJob, RenderedDocument},
    render_log::RenderLog,
};
use tokio::sync::Mutex;

use crate::{
    memory::Reservation,
    render_request::assets::served,
    service::{
        Services,
        assets::{AssetError, key, open},
    },
    store::assets,
};

/// Maximum number of names that a render looks up. Further ones don't exist for it.
const MOST_LOOKUPS: usize = 1_000;

/// Why a render that may use assets of its account failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::service) enum LibraryRenderError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// An asset exists but could not be loaded. The document would lack it.
    #[error(transparent)]
    Asset(#[from] AssetError),
}

/// Renders a job whose HTML may name assets of the account.
pub(in crate::service) async fn render_with_assets(
    app: &Services,
    account: AccountId,
    entered: Entered,
    mut job: RenderJob,
    log: &RenderLog,
) -> Result<RenderedDocument, LibraryRenderError> {
    let library = Arc::new(RenderLibrary {
        app: app.clone(),
        account,
        loaded: Mutex::default(),
    });
    job.assets = job.assets.with_library(Arc::clone(&library) as Arc<dyn AssetLibrary>);
    let rendered = entered.render(job, log).await;
    // Locked only by a look-up that the end of the render has interrupted.
    let failure = library
        .loaded
        .try_lock()
        .ok()
        .and_then(|mut loaded| loaded.failure.take());
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok(rendered?),
    }
}

/// The library of one render, whose parts all see the same content of an asset.
struct RenderLibrary {
    app: Services,
    account: AccountId,
    /// Locked while an asset is loaded, so that a render loads one at a time.
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    key: Option<DataKey>,
    /// By name; `None` for names that don't exist.
    assets: HashMap<String, Option<Asset>>,
    /// Memory of the assets.
    memory: Vec<Reservation>,
    /// Why an asset could not be loaded.
    failure: Option<AssetError>,
}

impl AssetLibrary for RenderLibrary {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Asset>> {
        Box::pin(async move {
            if asset::name_problem(name).is_some() {
                return None;
            }
            let mut loaded = self.loaded.lock().await;
            if let Some(asset) = loaded.assets.get(name) {
                return asset.clone();
            }
            if loaded.assets.len() >= MOST_LOOKUPS || loaded.failure.is_some() {
                return None;
            }
            match self.load(&mut loaded, name).await {
                Ok(asset) => {
                    loaded.assets.insert(name.to_owned(), asset.clone());
                    asset
                }
                Err(error) => {
                    loaded.failure = Some(error);
                    None
                }
            }
        })
    }
}

impl RenderLibrary {
    async fn load(&self, loaded: &mut Loaded, name: &str) -> Result<Option<Asset>, AssetError> {
        let Services { db, memory, .. } = &self.app;
        let Some((id, bytes)) = assets::find_by_name(db, self.account, name).await? else {
            return Ok(None);
        };
        // The stored bytes are decrypted in place; an adapted style sheet is a copy. A render has a slot, so it doesn't
        // wait for memory.
        let mut reserved = memory.try_reserve(self.account, 2 * u64::from(bytes.unsigned_abs()))?;
        // Deleted in the meantime, if there is none.
        let Some(content) = assets::find_content(db, self.account, id).await? else {
            return Ok(None);
        };
        let key = match &mut loaded.key {
            Some(key) => key,
            none => none.insert(key(&self.app, self.account).await?),
        };
        let asset = served(name, open(key, self.account, content)?.into());
        reserved.shrink_to(asset.as_ref().map_or(0, |asset| asset.bytes.len()) as u64);
        loaded.memory.push(reserved);
        Ok(asset)
    }
}
