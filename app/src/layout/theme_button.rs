//! The switch between light and dark.

use leptos::prelude::*;

use crate::{
    outcome::{ButtonForm, Outcome},
    theme::{SetTheme, of_document},
    ui::icon::{Glyph, Icon},
};

/// Switches to the next theme.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let outcome = Outcome::of::<SetTheme>();
    let theme = of_document();
    let label = format!("Theme: {}", theme.into_str());
    view! {
        <ButtonForm outcome>
            <input type="hidden" name="theme" value=theme.next().into_str() />
            <button class="button button--quiet button--icon button--small" aria-label=label.clone() title=label>
                <Icon glyph=Glyph::Theme />
            </button>
        </ButtonForm>
    }
}
