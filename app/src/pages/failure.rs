//! Self-contained error pages, which need nothing that may just have failed.

use leptos::prelude::*;

use crate::{
    layout::{
        brand::Brand,
        head::{SiteFiles, head},
    },
    theme::Theme,
};

/// Returns the page for an internal error (status 500) as a complete HTML document.
pub fn failure(files: &SiteFiles, theme: Theme, request_id: String) -> String {
    let lede = "The error is logged. Your renders are not affected. If it happens again, contact the operator of this service and quote the request id.";
    alone(files, theme, 500, "Internal error", lede.to_owned(), Some(request_id))
}

/// Returns the page for a request that was refused before it reached its page, as a complete HTML document. `message`
/// says what to do.
pub fn refusal(files: &SiteFiles, theme: Theme, status: u16, message: String) -> String {
    alone(files, theme, status, "Request rejected", message, None)
}

fn alone(
    files: &SiteFiles,
    theme: Theme,
    status: u16,
    title: &'static str,
    lede: String,
    request_id: Option<String>,
) -> String {
    let page = || {
        view! {
            <!DOCTYPE html>
            <html lang="en" data-theme=theme.attribute()>
                <head>
                    <title>{title} " · Platen"</title>
                    {head(files)}
                </head>
                <body>
                    <div class="auth">
                        <header class="auth__bar">
                            <Brand />
                        </header>
                        <main class="auth__sheet" id="main">
                            <p class="auth__figure">{status}</p>
                            <h1 class="auth__title">{title}</h1>
                            <p class="auth__lede">{lede}</p>
                            <div class="auth__form">
                                <div class="cluster">
                                    {(status == 500)
                                        .then(|| {
                                            view! {
                                                <a class="button button--primary" href="">
                                                    "Try again"
                                                </a>
                                            }
                                        })}
                                    <a class="button" href="/">
                                        "Go to start page"
                                    </a>
                                </div>
                            </div>
                            {request_id
                                .map(|id| view! { <div class="auth__other">"Request " <code>{id}</code></div> })}
                        </main>
                        <footer class="auth__foot">
                            <a href="/docs">"Docs"</a>
                        </footer>
                    </div>
                </body>
            </html>
        }
        .to_html()
    };
    Owner::new().with(page)
}
