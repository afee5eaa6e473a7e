//! The assets of an account during a render: each is loaded when a page, header or footer first requests it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{self, Arc},
};

use futures::future::BoxFuture;
use platen_domain::{
    asset::{
        self,
        font_sheet::{FONT_SHEET, font_sheet},
    },
    encryption::DataKey,
    ids::AccountId,
    validation::Problem,
};
use platen_egress::assets::{Asset, AssetLibrary};
use platen_engine::{
    Entered,
    error::{RenderError, RenderProblem},
    job::{Part, Phase, RenderedDocument},
    render_log::RenderLog,
};
use tokio::{sync::Mutex, task::spawn_blocking};

use crate::{
    memory::Reservation,
    mutex::lock,
    render_request::{RenderRequest, RenderTerms, assets::served},
    service::{
        Services,
        assets::{AssetError, fonts, key, open, remote::load_remote},
    },
    store::assets::{self, NamedAsset},
};

/// Maximum number of names that a render looks up. Further ones don't exist for it.
const MOST_LOOKUPS: usize = 1_000;
/// Memory reserved while the style sheet of fonts is composed, in bytes: 500 fonts with their properties.
const FONT_SHEET_MEMORY: u64 = 4 << 20;
/// Maximum size of all assets of the account that a render loads, and of all files from URLs, in bytes.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// Why a render that may use assets of its account failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::service) enum LibraryRenderError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// An asset exists but could not be loaded. The document would lack it.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// An asset that the request names by URL could not be loaded.
    #[error("an asset of the request can't be loaded")]
    Remote(Problem),
}

/// Renders the parts of a request, whose HTML may name assets: those of the request, which are loaded if it names them by URL,
/// and those of the account.
pub(in crate::service) async fn render_with_assets(
    app: &Services,
    account: AccountId,
    entered: Entered,
    mut request: RenderRequest,
    parts: Vec<Part>,
    terms: &RenderTerms,
    log: &RenderLog,
) -> Result<RenderedDocument, LibraryRenderError> {
    let loading = load_remote(app, account, &mut request.assets);
    let _memory = entered.within(Phase::Load, log, loading).await??;
    let mut job = request.into_job(parts, terms);
    let library = Arc::new(RenderLibrary {
        app: app.clone(),
        account,
        loaded: Mutex::default(),
        failure: sync::Mutex::default(),
    });
    job.assets = job.assets.with_library(Arc::clone(&library) as Arc<dyn AssetLibrary>);
    let rendered = Box::pin(entered.render(job, log)).await;
    match lock(&library.failure).take() {
        Some(failure) => Err(failure),
        None => Ok(rendered?),
    }
}

/// The library of one render, whose parts all see the same content of an asset.
struct RenderLibrary {
    app: Services,
    account: AccountId,
    /// Locked while an asset is loaded, so that a render loads one at a time.
    loaded: Mutex<Loaded>,
    /// Why an asset could not be loaded.
    failure: sync::Mutex<Option<LibraryRenderError>>,
}

#[derive(Default)]
struct Loaded {
    key: Option<Arc<DataKey>>,
    /// By name; `None` for names that don't exist.
    assets: HashMap<String, Option<Asset>>,
    /// Memory of the assets.
    memory: Vec<Reservation>,
    /// Size of the assets.
    bytes: u64,
}

impl AssetLibrary for RenderLibrary {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Asset>> {
        Box::pin(async move {
            let names = BTreeSet::from([name.to_owned()]);
            let mut found = self.find_loading(&names, None).await;
            found.remove(name)
        })
    }

    fn find_smallest<'a>(
        &'a self,
        names: &'a BTreeSet<String>,
        limit: usize,
    ) -> BoxFuture<'a, BTreeMap<String, Asset>> {
        Box::pin(self.find_loading(names, Some(limit as u64)))
    }
}

impl RenderLibrary {
    /// Returns the assets with these names; with a limit, the smallest of them. Loads those that are not loaded.
    async fn find_loading(&self, names: &BTreeSet<String>, limit: Option<u64>) -> BTreeMap<String, Asset> {
        let mut loaded = self.loaded.lock().await;
        if lock(&self.failure).is_none() {
            let unknown = names
                .iter()
                .filter(|name| asset::name_problem(name).is_none() && !loaded.assets.contains_key(*name));
            let room = MOST_LOOKUPS.saturating_sub(loaded.assets.len());
            let unknown: Vec<_> = unknown.take(room).cloned().collect();
            if let Err(error) = self.load(&mut loaded, unknown, limit).await {
                *lock(&self.failure) = Some(error);
            }
        }
        let found = names.iter().filter_map(|name| {
            let asset = loaded.assets.get(name)?.clone()?;
            Some((name.clone(), asset))
        });
        found.collect()
    }

    /// Loads the assets with these names; with a limit, the smallest of them, as many as have no more bytes together.
    async fn load(
        &self,
        loaded: &mut Loaded,
        names: Vec<String>,
        limit: Option<u64>,
    ) -> Result<(), LibraryRenderError> {
        if names.is_empty() {
            return Ok(());
        }
        let Services { db, memory, .. } = &self.app;
        let mut found = assets::find_named(db, self.account, &names)
            .await
            .map_err(AssetError::from)?;
        for name in names {
            if !found.iter().any(|asset| asset.name == name) {
                let asset = if name == FONT_SHEET {
                    self.font_sheet(loaded).await?
                } else {
                    None
                };
                loaded.assets.insert(name, asset);
            }
        }
        let mut bytes = 0;
        found.retain(|asset| {
            let fits = limit.is_none_or(|limit| bytes + asset.bytes <= limit);
            bytes += if fits { asset.bytes } else { 0 };
            fits
        });
        loaded.bytes += bytes;
        if loaded.bytes > MOST_BYTES {
            return Err(too_large().into());
        }
        // The stored bytes are decrypted in place; an adapted style sheet is a copy. A render has a slot, so it doesn't
        // wait for memory.
        let reserved = memory.try_reserve(self.account, 2 * bytes);
        let mut reserved = reserved.map_err(AssetError::from)?;
        let contents = self.contents(loaded, found).await?;
        let sizes = contents
            .iter()
            .filter_map(|(_, asset)| Some(asset.as_ref()?.bytes.len() as u64));
        reserved.shrink_to(sizes.sum());
        loaded.memory.push(reserved);
        loaded.assets.extend(contents);
        Ok(())
    }

    /// Returns the contents of assets by name, as far as they still exist.
    async fn contents(
        &self,
        loaded: &mut Loaded,
        found: Vec<NamedAsset>,
    ) -> Result<Vec<(String, Option<Asset>)>, LibraryRenderError> {
        let Services { db, known_contents, .. } = &self.app;
        let (mut contents, mut unknown) = (Vec::new(), HashMap::new());
        for asset in found {
            match known_contents.find(self.account, asset.content_id) {
                Some(known) => contents.push((asset.name, Some(known))),
                None => {
                    unknown.insert(asset.id, asset.name);
                }
            }
        }
        if unknown.is_empty() {
            return Ok(contents);
        }
        let ids: Vec<_> = unknown.keys().copied().collect();
        let sealed = assets::find_contents(db, self.account, &ids)
            .await
            .map_err(AssetError::from)?;
        let key = match &mut loaded.key {
            Some(key) => key,
            none => none.insert(Arc::new(key(&self.app, self.account).await.map_err(AssetError::from)?)),
        };
        let (key, account, known_contents) = (Arc::clone(key), self.account, known_contents.clone());
        let opening = move || {
            for (id, content) in sealed {
                let (content_id, name) = (content.content_id, unknown.remove(&id).unwrap_or_default());
                let asset = served(&name, open(&key, account, content)?.into());
                if let Some(asset) = &asset {
                    known_contents.remember(account, content_id, asset);
                }
                contents.push((name, asset));
            }
            contents.extend(unknown.into_values().map(|deleted| (deleted, None)));
            Ok::<_, AssetError>(contents)
        };
        Ok(spawn_blocking(opening).await.map_err(AssetError::from)??)
    }

    /// Returns the style sheet that declares the account's fonts, if there are any.
    async fn font_sheet(&self, loaded: &mut Loaded) -> Result<Option<Asset>, LibraryRenderError> {
        let memory = self.app.memory.try_reserve(self.account, FONT_SHEET_MEMORY);
        let mut memory = memory.map_err(AssetError::from)?;
        let fonts = fonts(&self.app.db, self.account, None).await?;
        if fonts.is_empty() {
            return Ok(None);
        }
        let sheet = font_sheet(&fonts);
        memory.shrink_to(2 * sheet.len() as u64);
        loaded.memory.push(memory);
        Ok(served(FONT_SHEET, sheet.into()))
    }
}

pub(super) fn too_large() -> RenderError {
    let reason = format!(
        "the assets that the document uses have more than {} MiB, the limit of one document: use fewer or smaller ones",
        MOST_BYTES >> 20
    );
    RenderError::Problem {
        part: 0,
        problem: RenderProblem::TooLarge { reason },
    }
}
