//! Assets: files that a proxy serves itself, without the network.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;

/// Host of the addresses of assets: `http://asset.invalid/NAME`. No name server knows it (RFC 6761, 6.4).
pub const ASSET_HOST: &str = "asset.invalid";

/// A file.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// The file's content.
    pub bytes: Bytes,
}

/// The assets of a render by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Assets(Arc<BTreeMap<String, Asset>>);

impl Assets {
    /// Returns the asset with this name.
    pub fn get(&self, name: &str) -> Option<&Asset> {
        self.0.get(name)
    }

    /// Returns all assets in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Asset)> {
        self.0.iter().map(|(name, asset)| (name.as_str(), asset))
    }
}

impl FromIterator<(String, Asset)> for Assets {
    fn from_iter<I: IntoIterator<Item = (String, Asset)>>(assets: I) -> Self {
        Self(Arc::new(assets.into_iter().collect()))
    }
}

/// Names and content are those of a client and never reach a log.
impl fmt::Debug for Assets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Assets({})", self.0.len())
    }
}
