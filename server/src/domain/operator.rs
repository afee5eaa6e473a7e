//! Those who run the service.

use crate::domain::{caller::User, client::Client};

/// An operator who is logged in, with a second factor of their own. What belongs to accounts they reach by the functions for
/// operators only, which take no account that the operator would belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// Who.
    pub user: User,
    /// What they call themselves; may be empty.
    pub name: String,
    /// From where.
    pub client: Client,
}
