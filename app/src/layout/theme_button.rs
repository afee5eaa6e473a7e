//! The switch between light and dark.

use leptos::prelude::*;

use crate::{
    csrf::CsrfField,
    theme::{SetTheme, use_theme},
    ui::icon::{Glyph, Icon},
};

/// Chooses the next theme. A form, so that it works without JavaScript.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let theme = use_theme();
    let set_theme = ServerAction::<SetTheme>::new();
    let input = set_theme.input();
    Effect::new(move || {
        if let Some(chosen) = input.get() {
            theme.set(chosen.theme);
        }
    });
    let label = move || format!("Theme: {}", theme.get().word());
    view! {
        <ActionForm action=set_theme>
            <CsrfField />
            <input type="hidden" name="theme" value=move || theme.get().next().word() />
            <button class="button button--quiet button--icon button--small" aria-label=label title=label>
                <Icon glyph=Glyph::Theme />
            </button>
        </ActionForm>
    }
}
