//! Known contents: decrypted contents of small assets that renders have used lately, by account. Their ids, which change with
//! the content, are looked up for each render.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use lru::LruCache;
use platen_domain::ids::AccountId;
use platen_egress::assets::Asset;
use uuid::Uuid;

use crate::mutex::lock;

/// Maximum size of all known contents, in bytes.
const MOST_BYTES: usize = 32 << 20;
/// Maximum size of one, in bytes.
const LARGEST: usize = 1 << 20;
/// Maximum number of them.
const MOST: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The known contents of all accounts. Cheap to clone.
#[derive(Clone)]
pub struct KnownContents(Arc<Mutex<Known>>);

struct Known {
    /// By account and id of the content.
    assets: LruCache<(AccountId, Uuid), Asset>,
    /// Size of the contents, in bytes.
    bytes: usize,
}

impl KnownContents {
    pub(super) fn find(&self, account: AccountId, content: Uuid) -> Option<Asset> {
        lock(&self.0).assets.get(&(account, content)).cloned()
    }

    /// Remembers a content, unless it is large, and forgets those that were not used for the longest time.
    pub(super) fn remember(&self, account: AccountId, content: Uuid, asset: &Asset) {
        if asset.bytes.len() > LARGEST {
            return;
        }
        let mut known = lock(&self.0);
        known.bytes += asset.bytes.len();
        if let Some((_, former)) = known.assets.push((account, content), asset.clone()) {
            known.bytes -= former.bytes.len();
        }
        while known.bytes > MOST_BYTES
            && let Some((_, oldest)) = known.assets.pop_lru()
        {
            known.bytes -= oldest.bytes.len();
        }
    }
}

impl Default for KnownContents {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Known {
            assets: LruCache::new(MOST),
            bytes: 0,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset(size: usize) -> Asset {
        Asset {
            content_type: "image/png",
            bytes: vec![0; size].into(),
        }
    }

    #[test]
    fn contents_are_known_to_their_account_only() {
        let (known, content) = (KnownContents::default(), Uuid::now_v7());
        let [account, other] = [(); 2].map(|()| AccountId(Uuid::now_v7()));
        known.remember(account, content, &asset(3));
        assert_eq!(known.find(account, content).unwrap().bytes.len(), 3);
        assert!(known.find(other, content).is_none());
    }

    #[test]
    fn memory_is_bounded_and_the_latest_used_remain() {
        let (known, account) = (KnownContents::default(), AccountId(Uuid::now_v7()));
        let contents: Vec<_> = (0..=MOST_BYTES / LARGEST).map(|_| Uuid::now_v7()).collect();
        for content in &contents {
            known.remember(account, *content, &asset(LARGEST));
            known.remember(account, *content, &asset(LARGEST));
            assert!(known.find(account, contents[0]).is_some());
        }
        assert!(known.find(account, contents[1]).is_none());
        assert!(known.find(account, contents[2]).is_some());
        assert_eq!(lock(&known.0).bytes, MOST_BYTES);
        let large = Uuid::now_v7();
        known.remember(account, large, &asset(LARGEST + 1));
        assert!(known.find(account, large).is_none());
    }
}
