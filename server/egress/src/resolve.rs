//! Names to addresses.

use std::{io, net::IpAddr, time::Duration};

use futures::future::BoxFuture;

/// A lookup that takes longer has failed.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Looks names up; a test puts a double in its place.
pub trait Resolve: Send + Sync {
    /// All addresses of `host` in the order of preference.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver.
#[derive(Debug, Default)]
pub struct SystemResolver {}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let lookup = tokio::net::lookup_host((host, 0));
            let addresses = tokio::time::timeout(RESOLVE_TIMEOUT, lookup).await??;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}
