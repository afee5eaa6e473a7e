//! Egress control: address policy, checked resolver, forward proxy.
//!
//! Every address that a tenant supplies (sub-resources of a page, URL parts, webhooks, endpoints of storage
//! connections) is reached through a [`guard::Guard`]: it resolves a name once, checks each address against the
//! [`policy::AddressPolicy`] and dials the address that passed the check. Browsers use a [`proxy::Proxy`], one per
//! session.

#![warn(missing_docs)]

pub mod allow;
pub mod assets;
pub mod guard;
pub mod log;
pub mod policy;
pub mod proxy;
pub mod resolve;
