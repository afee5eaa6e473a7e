//! Checkboxes.

use leptos::prelude::*;

/// A checkbox with its label.
#[component]
pub fn Check(
    /// `name` in the form.
    #[prop(into)]
    name: String,
    /// Value in the form, if it is checked.
    #[prop(default = "on".to_owned(), into)]
    value: String,
    #[prop(into)] label: String,
    /// Help text.
    #[prop(optional, into)]
    hint: String,
    /// Initial state.
    #[prop(optional)]
    checked: bool,
) -> impl IntoView {
    view! {
        <label class="check">
            <input class="check__box" type="checkbox" name=name value=value checked=checked />
            <span class="check__label">{label}</span>
            {(!hint.is_empty()).then(|| view! { <span class="check__hint">{hint}</span> })}
        </label>
    }
}
