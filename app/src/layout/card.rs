//! Pages with a single message or form, on a small sheet.

use leptos::prelude::*;
use leptos_meta::Title;

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

/// A page with one small sheet, under its title.
#[component]
pub fn CardPage(
    title: &'static str,
    /// Introduction in one or two sentences.
    #[prop(optional)]
    lede: &'static str,
    children: Children,
) -> impl IntoView {
    view! {
        <Title text=title />
        <Card>
            <h1 class="auth__title">{title}</h1>
            {(!lede.is_empty()).then(|| view! { <p class="auth__lede">{lede}</p> })}
            {children()}
        </Card>
    }
}
