//! One module per page. What it asks of the server stands in its `api.rs`.

#[cfg(feature = "ssr")]
pub mod failure;
pub mod landing;
pub mod not_found;
