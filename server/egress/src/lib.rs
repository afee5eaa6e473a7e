//! The only way out: address policy, checked resolver, forward proxy.
//!
//! Everything that a tenant names (a page's sub-resources, URL parts, callbacks, connection endpoints) is reached
//! through a [`guard::Guard`]: it resolves a name once, holds each address against the [`policy::AddressPolicy`] and
//! dials the very address that passed. Browsers come in through a [`proxy::Proxy`], one per session.

pub mod allow;
pub mod guard;
pub mod log;
pub mod policy;
pub mod proxy;
pub mod resolve;
