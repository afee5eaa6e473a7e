//! The head of every HTML document.

use leptos::prelude::*;

/// Addresses of the files that every page needs. They consist of letters, digits, dots and hyphens.
#[derive(Debug, Clone)]
pub struct SiteFiles {
    pub style: String,
    /// The script that starts the islands.
    pub script: String,
    /// The WebAssembly module of the islands.
    pub module: String,
}

/// The part that pages with and without the app share.
pub(crate) fn head(files: &SiteFiles) -> impl IntoView + use<> {
    view! {
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="/img/favicon.svg" r#type="image/svg+xml" />
        <link
            rel="preload"
            href="/fonts/archivo-latin-wdth-normal.woff2"
            r#as="font"
            r#type="font/woff2"
            crossorigin=""
        />
        <link rel="stylesheet" href=files.style.clone() />
    }
}
