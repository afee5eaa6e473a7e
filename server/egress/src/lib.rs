//! The only way out: address policy, checked resolver, forward proxy.

/// The address policy with its resolver and limits, shared by every proxy and by all that a tenant names.
pub struct Guard;
