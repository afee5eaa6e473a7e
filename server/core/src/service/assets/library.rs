//! The assets of an account during a render: each is loaded when a page, header or footer first requests it.

use std::{
    collections::HashMap,
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
    store::assets,
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
    let rendered = entered.render(job, log).await;
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
            if asset::name_problem(name).is_some() {
                return None;
            }
            let mut loaded = self.loaded.lock().await;
            if let Some(asset) = loaded.assets.get(name) {
                return asset.clone();
            }
            if loaded.assets.len() >= MOST_LOOKUPS || lock(&self.failure).is_some() {
                return None;
            }
            match self.load(&mut loaded, name).await {
                Ok(asset) => {
                    loaded.assets.insert(name.to_owned(), asset.clone());
                    asset
                }
                Err(error) => {
                    *lock(&self.failure) = Some(error);
                    None
                }
            }
        })
    }
}

impl RenderLibrary {
    async fn load(&self, loaded: &mut Loaded, name: &str) -> Result<Option<Asset>, LibraryRenderError> {
        let Services { db, memory, .. } = &self.app;
        let found = assets::find_by_name(db, self.account, name).await;
        let Some((id, bytes)) = found.map_err(AssetError::from)? else {
            return if name == FONT_SHEET {
                self.font_sheet(loaded).await
            } else {
                Ok(None)
            };
        };
        let bytes = u64::from(bytes.unsigned_abs());
        loaded.bytes += bytes;
        if loaded.bytes > MOST_BYTES {
            return Err(too_large().into());
        }
        // The stored bytes are decrypted in place; an adapted style sheet is a copy. A render has a slot, so it doesn't
        // wait for memory.
        let reserved = memory.try_reserve(self.account, 2 * bytes);
        let mut reserved = reserved.map_err(AssetError::from)?;
        // Deleted in the meantime, if there is none.
        let content = assets::find_content(db, self.account, id).await;
        let Some(content) = content.map_err(AssetError::from)? else {
            return Ok(None);
        };
        let key = match &mut loaded.key {
            Some(key) => key,
            none => none.insert(Arc::new(key(&self.app, self.account).await.map_err(AssetError::from)?)),
        };
        let (key, account, name) = (Arc::clone(key), self.account, name.to_owned());
        let opening = move || Ok::<_, AssetError>(served(&name, open(&key, account, content)?.into()));
        let asset = spawn_blocking(opening).await.map_err(AssetError::from)??;
        reserved.shrink_to(asset.as_ref().map_or(0, |asset| asset.bytes.len()) as u64);
        loaded.memory.push(reserved);
        Ok(asset)
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
