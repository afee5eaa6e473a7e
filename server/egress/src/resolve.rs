//! Name resolution.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

/// Limit for one lookup, after which it counts as failed.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Concurrent lookups per resolver. The system resolver blocks a thread for each lookup and can't be interrupted, so
/// names whose servers don't respond must not exhaust the threads that other work needs.
const LOOKUPS_AT_ONCE: usize = 64;

/// Resolves host names. Tests substitute a double.
pub trait Resolve: Send + Sync {
    /// Returns all addresses of `host` in order of preference. Imposes no time limit; callers apply
    /// [`RESOLVE_TIMEOUT`].
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Debug)]
pub struct SystemResolver {
    slots: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)),
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let slot = Arc::clone(&self.slots)
                .acquire_owned()
                .await
                .map_err(io::Error::other)?;
            let host = host.to_owned();
            tokio::task::spawn_blocking(move || {
                let addresses = (host.as_str(), 0).to_socket_addrs();
                // Held by the thread rather than the caller, which may have timed out.
                drop(slot);
                Ok(addresses?.map(|address| address.ip()).collect())
            })
            .await?
        })
    }
}
