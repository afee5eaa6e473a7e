//! Pages can't reach addresses that are not public: a canary on loopback records attempts that succeed.
//!
//! Each test also verifies that the page made the attempt: the engine lists the request as refused, the origin received
//! the allowed requests, or the page's own script throws unless its attempt failed.

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

/// A resolver that knows only these names and their addresses.
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

/// Starts an engine that resolves only these names.
pub(crate) async fn start_with_names(allow: &str, names: Names) -> TestEngine {
    let policy = AddressPolicy::new(allow.parse().unwrap());
    let guard = Guard::new(policy, Arc::new(names), GuardLimits::default());
    TestEngine::start_with(allow, |config| config.guard = guard).await
}

/// Returns whether a request for this URL was made and refused.
fn was_refused(document: &Rendered, url: &str) -> bool {
    let mut requests = document.requests.iter();
    requests.any(|request| request.url == url && request.refused.is_some())
}
