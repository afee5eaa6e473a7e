//! Files that the service keeps.

pub mod answers;
pub mod documents;
