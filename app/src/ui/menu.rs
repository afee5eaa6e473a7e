//! What can be done with the thing of a row: folded, since it is rarely wanted.

use leptos::prelude::*;

use crate::ui::icon::{Glyph, Icon};

/// A button that opens the menu, and the menu.
#[component]
pub fn RowMenu(
    /// Unique in the page.
    id: String,
    /// What the row is about.
    of: String,
    /// Items.
    children: Children,
) -> impl IntoView {
    let of_button = id.clone();
    view! {
        <button
            class="button button--quiet button--small button--icon"
            type="button"
            aria-label=format!("More for {of}")
            popovertarget=of_button
        >
            <Icon glyph=Glyph::More />
        </button>
        <div class="menu" id=id popover>
            {children()}
        </div>
    }
}

/// An item that opens a dialog.
#[component]
pub fn OpenItem(
    /// `id` of the dialog.
    dialog: String,
    /// Whether it asks for what can't be undone.
    #[prop(optional)]
    danger: bool,
    /// Icon and words.
    children: Children,
) -> impl IntoView {
    let class = if danger {
        "menu__item menu__item--danger"
    } else {
        "menu__item"
    };
    view! {
        <button class=class type="button" command="show-modal" commandfor=dialog>
            {children()}
        </button>
    }
}
