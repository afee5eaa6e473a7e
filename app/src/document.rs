//! The HTML document around every page.

use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::MetaTags;

use crate::{
    csrf,
    layout::head::{SiteFiles, head},
    routes::App,
    theme,
};

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
