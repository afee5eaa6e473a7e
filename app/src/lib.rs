//! The dashboard: what its pages look like, what they ask of the server, and what travels between the two.
//!
//! It is compiled twice. With the feature `ssr` it becomes part of the server, which writes every page as complete HTML;
//! with `hydrate` it runs in the browser and takes that page over. What only the server has stands behind
//! [`backend::Backend`].

#![expect(clippy::needless_pass_by_value, reason = "components are handed their properties")]
#![expect(clippy::unused_async, reason = "server functions are async, whatever they do")]

#[cfg(feature = "ssr")]
pub mod backend;
#[cfg(feature = "ssr")]
pub mod document;
pub mod error;
pub mod layout;
pub mod model;
pub mod pages;
pub mod theme;
pub mod ui;

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::pages::{landing::Landing, not_found::NotFound};

/// Every page under its address. All are [`SsrMode::Async`]: complete in the first answer, so that they say the same
/// without JavaScript, and with the right status.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    theme::provide_theme();
    view! {
        <Title formatter=|title: String| format!("{title} · Platen") />
        <Router>
            <Routes fallback=NotFound>
                <Route path=path!("/") view=Landing ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}
