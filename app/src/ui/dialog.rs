//! Modal dialogs. A button opens them without JavaScript.

use leptos::prelude::*;

use crate::ui::{
    button::{Rank, Size, class},
    icon::{Glyph, Icon},
};

/// Style of a dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weight {
    #[default]
    Plain,
    /// For long forms.
    Wide,
    /// For irreversible actions.
    Danger,
    /// A drawer at the edge, for details beside a list.
    Drawer,
}

/// A dialog.
#[component]
pub fn Dialog(
    /// Referenced by the button that opens it.
    #[prop(into)]
    id: String,
    #[prop(into)] title: String,
    #[prop(optional)] weight: Weight,
    /// Whether it is open initially.
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
