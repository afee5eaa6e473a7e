//! Assets: files that a proxy serves itself, without the network.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use uuid::Uuid;

/// Domain of the addresses of assets: `http://LABEL.asset.invalid/NAME`, with a label of each render's own. No name server knows
/// it (RFC 6761, 6.4).
pub const ASSET_DOMAIN: &str = "asset.invalid";

/// A file.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// The file's content.
    pub bytes: Bytes,
}

/// Where a render finds the assets that it doesn't bring along. Only the names that its pages request are looked up.
pub trait AssetLibrary: Send + Sync {
    /// Returns the asset with this name.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Asset>>;
}

/// The assets of a render by name. Cheap to clone.
#[derive(Clone)]
pub struct Assets {
    own: Arc<BTreeMap<String, Asset>>,
    library: Option<Arc<dyn AssetLibrary>>,
    host: Arc<str>,
}

impl Assets {
    /// Returns the host of their addresses. It is random: browsers keep pictures of earlier pages by their addresses, whatever
    /// the responses say about caches, and another render may have another file of the same name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Adds a library for names that these assets don't have.
    #[must_use]
    pub fn with_library(self, library: Arc<dyn AssetLibrary>) -> Self {
        Self {
            library: Some(library),
            ..self
        }
    }

    /// Returns the asset with this name.
    pub async fn find(&self, name: &str) -> Option<Asset> {
        match (self.own.get(name), &self.library) {
            (Some(asset), _) => Some(asset.clone()),
            (None, Some(library)) => library.find(name).await,
            (None, None) => None,
        }
    }
}

impl FromIterator<(String, Asset)> for Assets {
    fn from_iter<I: IntoIterator<Item = (String, Asset)>>(assets: I) -> Self {
        Self {
            own: Arc::new(assets.into_iter().collect()),
            library: None,
            host: format!("{}.{ASSET_DOMAIN}", Uuid::new_v4().simple()).into(),
        }
    }
}

/// No assets.
impl Default for Assets {
    fn default() -> Self {
        Self::from_iter([])
    }
}

/// Names and content are those of a client and never reach a log.
impl fmt::Debug for Assets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Assets({})", self.own.len())
    }
}
