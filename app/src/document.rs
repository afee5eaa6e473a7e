//! The HTML document around every page.

use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::MetaTags;

use crate::{csrf, routes::App, theme};

/// Addresses of the files that every page needs. They consist of letters, digits, dots and hyphens.
#[derive(Debug, Clone)]
pub struct SiteFiles {
    pub style: String,
    /// The script that starts the islands.
    pub script: String,
    /// The WebAssembly module of the islands.
    pub module: String,
}

/// The complete document: the head, then the app.
pub fn document(files: &SiteFiles) -> impl IntoView + use<> {
    // Fetches both files at once, and only where scripts run.
    let start = format!(
        "const module_or_path = fetch(\"{}\"); const site = await import(\"{}\"); await site.start(module_or_path);",
        files.module, files.script
    );
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme::of_document().attribute()>
            <head>
                {head(files)}
                {csrf::token().map(|token| view! { <meta name=csrf::META content=token /> })}
                <script type="module" nonce=use_nonce()>
                    {start}
                </script>
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// The part of the head that pages with and without the app share.
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
