//! One of several, one below the other.

use leptos::prelude::*;

/// A radio with its label.
#[component]
pub fn Radio(
    /// `name` in the form; the same for all of them.
    name: &'static str,
    /// What the form holds.
    value: &'static str,
    /// What it is about.
    label: &'static str,
    /// A line that says more.
    hint: &'static str,
    /// Whether it is chosen at first.
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
