//! The dashboard: its pages, the interface through which they call the server, and the types that both share.
//!
//! It is compiled twice. With the feature `ssr` it becomes part of the server, which renders every page as complete
//! HTML. With `hydrate` it becomes the WebAssembly module for browsers, which contains only the [`islands`] and their
//! dependencies. Server-only functions are behind [`backend::Backend`].

#![expect(clippy::needless_pass_by_value, reason = "components are handed their properties")]
#![cfg_attr(
    feature = "ssr",
    expect(clippy::unused_async, reason = "server functions are async, whatever they do")
)]

#[cfg(not(erase_components))]
compile_error!(
    "build from the project's folder: `.cargo/config.toml` sets `--cfg erase_components`, in server and module alike"
);

#[cfg(feature = "ssr")]
pub mod backend;
#[cfg(feature = "ssr")]
pub mod cookies;
pub mod csrf;
pub mod curl;
#[cfg(feature = "ssr")]
pub mod document;
pub mod error;
pub mod islands;
#[cfg(feature = "ssr")]
pub mod layout;
pub mod model;
#[cfg(feature = "ssr")]
pub mod outcome;
#[cfg(feature = "ssr")]
pub mod pages;
pub mod read_only;
#[cfg(feature = "ssr")]
pub mod routes;
#[cfg(feature = "ssr")]
pub mod theme;
pub mod ui;
