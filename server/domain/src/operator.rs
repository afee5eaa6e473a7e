//! Operators of the service.

use crate::{caller::User, client::Client};

/// A logged-in operator who has a second factor. Operators reach data of accounts only through functions for operators,
/// which don't take the caller's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    pub user: User,
    /// The display name; may be empty.
    pub name: String,
    pub client: Client,
}
