//! Pages with a single message or form, on a small sheet.

use leptos::prelude::*;

use crate::layout::{brand::Brand, theme_button::ThemeButton};

/// A page with one small sheet.
#[component]
pub fn Card(children: Children) -> impl IntoView {
    view! {
        <div class="auth">
            <header class="auth__bar">
                <Brand />
                <ThemeButton />
            </header>
            <main class="auth__sheet" id="main">
                {children()}
            </main>
            <footer class="auth__foot">
                <a href="/docs">
                    "Docs"
                </a>
            </footer>
        </div>
    }
}
