//! Public pages: one sheet with a masthead and a colophon.

use leptos::{either::Either, prelude::*};

use crate::{
    backend::backend,
    layout::{brand::Brand, page::loaded_or, theme_button::ThemeButton},
    model::own_path::DASHBOARD,
    ui::button::{ButtonLink, Rank, Size},
};

/// A public page.
#[component]
pub fn Public(
    /// Content between masthead and colophon.
    children: Children,
) -> impl IntoView {
    view! {
        <a class="skip-link" href="#main">
            "Skip to content"
        </a>
        <div class="public">
            <div class="public__column">
                <header class="masthead">
                    <Brand />
                    <nav class="masthead__nav" aria-label="Main">
                        <a href="/docs">
                            "Docs"
                        </a>
                        {loaded_or(
                            |backend| async move { backend.plans().await },
                            |plans| (!plans.is_empty()).then(|| view! { <a href="/#prices">"Prices"</a> }),
                            |_| (),
                        )}
                    </nav>
                    <div class="masthead__actions">
                        <ThemeButton />
                        {if backend().is_logged_in() {
                            Either::Left(
                                view! {
                                    <ButtonLink href=DASHBOARD size=Size::Small>
                                        "Dashboard"
                                    </ButtonLink>
                                },
                            )
                        } else {
                            Either::Right(
                                view! {
                                    <ButtonLink href="/log-in" rank=Rank::Quiet size=Size::Small>
                                        "Log in"
                                    </ButtonLink>
                                    <ButtonLink href="/sign-up" size=Size::Small>
                                        "Sign up"
                                    </ButtonLink>
                                },
                            )
                        }}
                    </div>
                </header>
                <main id="main">{children()}</main>
                <footer class="colophon">
                    <p>"Platen, set in Archivo and IBM Plex Mono."</p>
                    <nav class="colophon__links" aria-label="Footer">
                        <a href="/docs">
                            "API reference"
                        </a>
                        <a href="/docs/templates">
                            "Template syntax"
                        </a>
                        <a href="/openapi.json">
                            "OpenAPI"
                        </a>
                    </nav>
                </footer>
            </div>
        </div>
    }
}
