//! Yes or no.

use leptos::prelude::*;

/// A checkbox with its label. Its form holds `on` for it, or nothing.
#[component]
pub fn Check(
    /// `name` in the form.
    name: &'static str,
    /// What it is about.
    label: &'static str,
) -> impl IntoView {
    view! {
        <label class="check">
            <input class="check__box" type="checkbox" name=name />
            <span class="check__label">{label}</span>
        </label>
    }
}
