//! Names to addresses.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

/// A lookup that takes longer has failed.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Lookups under way at once. The system's resolver holds a thread for each and cannot be interrupted, so names that
/// nobody answers for must not use up the threads that other work waits for.
const LOOKUPS_AT_ONCE: usize = 64;

/// Looks names up; a test puts a double in its place.
pub trait Resolve: Send + Sync {
    /// All addresses of `host` in the order of preference. The caller sets the time limit.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver.
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
                // Held by the thread, not by the caller, who may have given up.
                drop(slot);
                Ok(addresses?.map(|address| address.ip()).collect())
            })
            .await?
        })
    }
}
