//! Nothing that a page does reaches an address that is not public: a canary on loopback would notice.
//!
//! Each test also makes sure that the page really tried: the engine lists the request as refused, the origin saw the
//! page come as far as it may, or the page's own script fails unless its attempt failed.

mod addresses;
mod answers;
mod arrivals;
mod local_files;
mod navigation;
mod scripts;
mod sub_resources;
mod transport;

use std::{io, net::IpAddr, sync::Arc};

use futures::future::BoxFuture;
use platen_egress::{
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::Resolve,
};

use crate::support::{Rendered, TestEngine};

/// Names of the tests; all others do not exist.
pub(crate) struct Names(pub(crate) &'static [(&'static str, &'static [&'static str])]);

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let known = self.0.iter().find(|(name, _)| *name == host);
            let (_, addresses) = known.ok_or_else(|| io::Error::other("no such name"))?;
            Ok(addresses.iter().map(|address| address.parse().unwrap()).collect())
        })
    }
}

/// An engine that knows these names only.
pub(crate) async fn start_with_names(allow: &str, names: Names) -> TestEngine {
    let policy = AddressPolicy::new(allow.parse().unwrap());
    let guard = Guard::new(policy, Arc::new(names), GuardLimits::default());
    TestEngine::start_with(allow, |config| config.guard = guard).await
}

/// Whether a request for this address was made and refused.
fn was_refused(document: &Rendered, url: &str) -> bool {
    let mut requests = document.requests.iter();
    requests.any(|request| request.url == url && request.refused.is_some())
}
