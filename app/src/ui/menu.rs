//! Menus with the actions for a row.

use leptos::prelude::*;

use crate::{
    read_only::is_read_only,
    ui::icon::{Glyph, Icon},
};

/// A menu and the button that opens it.
#[component]
pub fn RowMenu(
    /// Unique in the page.
    id: String,
    /// The item of the row, for the accessible name.
    of: String,
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

/// An item that opens a dialog for a change.
#[component]
pub fn OpenItem(
    /// `id` of the dialog.
    dialog: String,
    /// Whether the action is irreversible.
    #[prop(optional)]
    danger: bool,
    icon: Glyph,
    children: Children,
) -> impl IntoView {
    let class = if danger {
        "menu__item menu__item--danger"
    } else {
        "menu__item"
    };
    view! {
        <button class=class type="button" command="show-modal" commandfor=dialog disabled=is_read_only()>
            <Icon glyph=icon />
            {children()}
        </button>
    }
}
