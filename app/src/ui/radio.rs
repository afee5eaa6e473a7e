//! Radio buttons, one below the other.

use leptos::prelude::*;

/// A radio button with its label.
#[component]
pub fn Radio(
    /// `name` in the form; the same for all buttons of a group.
    name: &'static str,
    /// Value in the form, if it is selected.
    value: &'static str,
    label: &'static str,
    /// Help text.
    hint: &'static str,
    /// Whether it is selected initially.
    checked: bool,
) -> impl IntoView {
    view! {
        <label class="check">
            <input class="check__box" type="radio" name=name value=value checked=checked />
            <span class="check__label">{label}</span>
            <span class="check__hint">{hint}</span>
        </label>
    }
}
