//! Assets: files that a proxy serves itself, without the network.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

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

    /// Returns the smallest of the assets with these names: as many as have at most `limit` bytes together.
    fn find_smallest<'a>(&'a self, names: &'a BTreeSet<String>, limit: usize)
    -> BoxFuture<'a, BTreeMap<String, Asset>>;
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

    /// Returns small assets with these names: of those of the render, and of the library, the smallest, as many as have at most
    /// `limit` bytes together.
    pub async fn find_smallest(&self, names: &BTreeSet<String>, limit: usize) -> BTreeMap<String, Asset> {
        let mut own: Vec<_> = names.iter().filter_map(|name| self.own.get_key_value(name)).collect();
        own.sort_by_key(|(_, asset)| asset.bytes.len());
        let mut left = limit;
        let own = own.into_iter().map_while(|(name, asset)| {
            left = left.checked_sub(asset.bytes.len())?;
            Some((name.clone(), asset.clone()))
        });
        let mut found: BTreeMap<_, _> = own.collect();
        let others: BTreeSet<_> = names
            .iter()
            .filter(|name| !self.own.contains_key(*name))
            .cloned()
            .collect();
        if let Some(library) = self.library.as_ref().filter(|_| !others.is_empty()) {
            found.extend(library.find_smallest(&others, left).await);
        }
        found
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Records how it is asked for small assets.
    #[derive(Default)]
    struct Library(Mutex<Vec<(BTreeSet<String>, usize)>>);

    impl AssetLibrary for Library {
        fn find<'a>(&'a self, _name: &'a str) -> BoxFuture<'a, Option<Asset>> {
            Box::pin(async { None })
        }

        fn find_smallest<'a>(
            &'a self,
            names: &'a BTreeSet<String>,
            limit: usize,
        ) -> BoxFuture<'a, BTreeMap<String, Asset>> {
            self.0.lock().unwrap().push((names.clone(), limit));
            Box::pin(async { BTreeMap::from([asset("of the library", 1)]) })
        }
    }

    fn asset(name: &str, size: usize) -> (String, Asset) {
        let asset = Asset {
            content_type: "image/png",
            bytes: vec![0; size].into(),
        };
        (name.to_owned(), asset)
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[tokio::test]
    async fn the_smallest_assets_are_found_within_the_limit() {
        let library = Arc::new(Library::default());
        let assets = Assets::from_iter([
            asset("large", 50),
            asset("small", 10),
            asset("medium", 20),
            asset("x", 1),
        ])
        .with_library(Arc::clone(&library) as Arc<dyn AssetLibrary>);
        let found = assets.find_smallest(&names(&["large", "medium", "small"]), 40).await;
        assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), names(&["medium", "small"]));
        assert!(
            library.0.lock().unwrap().is_empty(),
            "the render's own assets were looked up"
        );
        let found = assets.find_smallest(&names(&["other", "small"]), 40).await;
        assert_eq!(
            found.into_keys().collect::<BTreeSet<_>>(),
            names(&["of the library", "small"])
        );
        assert_eq!(*library.0.lock().unwrap(), [(names(&["other"]), 30)]);
    }
}
