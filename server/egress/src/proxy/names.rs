//! Names that a render has resolved.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use tokio::sync::{OnceCell, Semaphore};

use super::lock;
use crate::resolve::Resolve;

/// Concurrent lookups per render, so that a page full of dead names doesn't prevent all others from resolving theirs.
const LOOKUPS_AT_ONCE: usize = 8;

/// Resolves each name once per render: fifty images from one host need one lookup. Failed lookups are repeated.
pub(super) struct RenderNames {
    resolver: Arc<dyn Resolve>,
    slots: Semaphore,
    known: Mutex<HashMap<String, Arc<OnceCell<Vec<IpAddr>>>>>,
}

impl RenderNames {
    pub(super) fn new(resolver: Arc<dyn Resolve>) -> Self {
        Self {
            resolver,
            slots: Semaphore::new(LOOKUPS_AT_ONCE),
            known: Mutex::default(),
        }
    }

    async fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let _slot = self.slots.acquire().await.map_err(io::Error::other)?;
        self.resolver.resolve(host).await
    }
}

impl Resolve for RenderNames {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let addresses = Arc::clone(lock(&self.known).entry(host.to_owned()).or_default());
            Ok(addresses.get_or_try_init(|| self.look_up(host)).await?.clone())
        })
    }
}
