//! What asks or shows one thing, over the page. A button opens it, without script.

use leptos::prelude::*;

use crate::ui::{
    button::{Rank, Size, class},
    icon::{Glyph, Icon},
};

/// How it looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weight {
    /// As most do.
    #[default]
    Plain,
    /// For long forms.
    Wide,
    /// What it asks for can't be undone.
    Danger,
    /// A drawer at the edge, for what is looked at beside a list.
    Drawer,
}

/// A dialog.
#[component]
pub fn Dialog(
    /// By which a button opens it.
    #[prop(into)]
    id: String,
    /// What it asks or shows.
    #[prop(into)]
    title: String,
    /// See [`Weight`].
    #[prop(optional)]
    weight: Weight,
    /// Whether it is open when the page is shown.
    #[prop(optional)]
    open: bool,
    /// Body and foot.
    children: Children,
) -> impl IntoView {
    let (heading, of_button) = (format!("{id}-title"), id.clone());
    let class_of_dialog = match weight {
        Weight::Plain => "dialog",
        Weight::Wide => "dialog dialog--wide",
        Weight::Danger => "dialog dialog--danger",
        Weight::Drawer => "dialog dialog--drawer",
    };
    view! {
        <dialog class=class_of_dialog id=id aria-labelledby=heading.clone() open=open>
            <div class="dialog__head">
                <h2 class="dialog__title" id=heading.clone()>
                    {title}
                </h2>
                <button
                    class=format!("{} button--icon", class(Rank::Quiet, Size::Small))
                    type="button"
                    command="close"
                    commandfor=of_button
                    aria-label="Close"
                >
                    <Icon glyph=Glyph::Close />
                </button>
            </div>
            {children()}
        </dialog>
    }
}
