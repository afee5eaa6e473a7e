//! Who is logged in.

use serde::{Deserialize, Serialize};

/// What a person sees of themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// May be empty.
    pub name: String,
    /// Log-in name.
    pub email: String,
}
