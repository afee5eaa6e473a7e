//! Users.

use serde::{Deserialize, Serialize};

/// The logged-in user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// May be empty.
    pub name: String,
    pub email: String,
}
