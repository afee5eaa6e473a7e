//! One module per page. The server functions of its forms are in its `api.rs`.

pub mod activity;
pub mod admin;
pub mod api_key;
pub mod api_keys;
pub mod assets;
pub mod auth;
pub mod billing;
pub mod connections;
pub mod failure;
pub mod landing;
pub mod latest;
pub mod not_found;
pub mod overview;
pub mod playground;
pub mod query;
pub mod render;
pub mod renders;
pub mod search;
pub mod second_factor;
pub mod settings;
pub mod storage;
pub mod team;
pub mod template;
pub mod template_syntax;
pub mod templates;
pub mod webhooks;
