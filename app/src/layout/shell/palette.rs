//! The command palette: a dialog on every page that finds pages, actions, templates and renders.

use leptos::prelude::*;

use crate::{
    pages::search::{MOST_CHARACTERS, PATH},
    ui::icon::{Glyph, Icon},
};

/// The button and its dialog; see `frontend/elements/command-palette.ts`. Without JavaScript, the dialog is a form that
/// leads to the page with the results.
#[component]
pub fn Palette() -> impl IntoView {
    view! {
        <command-palette>
            <button
                class="button button--quiet button--small palette-button"
                type="button"
                command="show-modal"
                commandfor="palette"
            >
                <Icon glyph=Glyph::Search />
                <span class="palette-button__name">"Search"</span>
                <kbd hidden></kbd>
            </button>
            <dialog class="dialog palette" id="palette" aria-label="Search">
                <form class="palette__form" action=PATH role="search">
                    <input
                        class="palette__field"
                        type="search"
                        name="q"
                        maxlength=MOST_CHARACTERS
                        placeholder="Page, action, template or render"
                        aria-label="Search"
                        autocomplete="off"
                        spellcheck="false"
                        autofocus
                    />
                    <button class="button button--quiet button--small button--icon" type="reset" aria-label="Clear">
                        <Icon glyph=Glyph::Close />
                    </button>
                </form>
                <div class="palette__results">
                    <p class="palette__hint">"Press Enter to search."</p>
                </div>
                <p class="visually-hidden" role="status"></p>
            </dialog>
        </command-palette>
    }
}
