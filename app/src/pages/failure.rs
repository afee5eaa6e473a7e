//! Something broke on our side. The page stands alone: it needs nothing that may just have broken.

use leptos::prelude::*;

use crate::{
    document::{SiteFiles, head},
    layout::brand::Brand,
    theme::Theme,
};

/// 500, as a whole document.
pub fn failure(files: &SiteFiles, theme: Theme, request_id: String) -> String {
    Owner::new().with(|| {
        view! {
            <!DOCTYPE html>
            <html lang="en" data-theme=theme.attribute()>
                <head>
                    <title>"Something broke on our side · Platen"</title>
                    {head(files)}
                </head>
                <body>
                    <div class="auth">
                        <header class="auth__bar">
                            <Brand />
                        </header>
                        <main class="auth__sheet" id="main">
                            <p class="auth__figure">"500"</p>
                            <h1 class="auth__title">"Something broke on our side"</h1>
                            <p class="auth__lede">
                                "We have logged it. Your renders and jobs are not affected. If it happens again, write to us and name the request."
                            </p>
                            <div class="auth__form">
                                <div class="cluster">
                                    <a class="button button--primary" href="">
                                        "Try again"
                                    </a>
                                    <a class="button" href="/">
                                        "Start page"
                                    </a>
                                </div>
                            </div>
                            <div class="auth__other">"Request " <code>{request_id}</code></div>
                        </main>
                        <footer class="auth__foot">
                            <a href="/docs">"Docs"</a>
                        </footer>
                    </div>
                </body>
            </html>
        }
        .to_html()
    })
}
