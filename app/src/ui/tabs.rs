//! Tabs (WAI-ARIA Authoring Practices, "Tabs"). Arrow keys move between them.

use leptos::{html, prelude::*};

/// Tabs and their panels. All panels stay in the document.
#[component]
pub fn Tabs(
    /// Prefix of the ids in the page.
    id: &'static str,
    /// Accessible name of the list of tabs.
    label: &'static str,
    /// Names and panels, from left to right.
    tabs: Vec<(&'static str, AnyView)>,
    /// Index of the selected tab.
    chosen: RwSignal<usize>,
) -> impl IntoView {
    let count = tabs.len();
    let buttons: Vec<NodeRef<html::Button>> = (0..count).map(|_| NodeRef::new()).collect();
    let references = StoredValue::new(buttons.clone());
    let go = move |index: usize| {
        chosen.set(index);
        if let Some(button) = references.with_value(|buttons| buttons.get(index).and_then(NodeRef::get_untracked)) {
            let _ = button.focus();
        }
    };
    let heads = tabs
        .iter()
        .zip(buttons)
        .enumerate()
        .map(|(index, ((name, _), button))| {
            let is_chosen = move || chosen.get() == index;
            view! {
                <button
                    class="tabs__tab"
                    type="button"
                    role="tab"
                    id=format!("{id}-tab-{index}")
                    aria-controls=format!("{id}-panel-{index}")
                    aria-selected=move || is_chosen().to_string()
                    tabindex=move || if is_chosen() { "0" } else { "-1" }
                    node_ref=button
                    on:click=move |_| chosen.set(index)
                    on:keydown=move |event| match event.key().as_str() {
                        "ArrowRight" => go((index + 1) % count),
                        "ArrowLeft" => go((index + count - 1) % count),
                        "Home" => go(0),
                        "End" => go(count - 1),
                        _ => {}
                    }
                >
                    {*name}
                </button>
            }
        });
    let heads = heads.collect_view();
    let panels = tabs.into_iter().enumerate().map(|(index, (_, panel))| {
        view! {
            <div
                class="tabs__panel"
                role="tabpanel"
                id=format!("{id}-panel-{index}")
                aria-labelledby=format!("{id}-tab-{index}")
                hidden=move || chosen.get() != index
            >
                {panel}
            </div>
        }
    });
    let panels = panels.collect_view();
    view! {
        <div class="tabs">
            <div class="tabs__list" role="tablist" aria-label=label>
                {heads}
            </div>
            {panels}
        </div>
    }
}
