//! Yes or no.

use leptos::prelude::*;

/// A checkbox with its label. Its form holds its value for it, or nothing.
#[component]
pub fn Check(
    /// `name` in the form.
    #[prop(into)]
    name: String,
    /// What the form holds.
    #[prop(default = "on".to_owned(), into)]
    value: String,
    /// What it is about.
    #[prop(into)]
    label: String,
    /// A line that says more.
    #[prop(optional, into)]
    hint: String,
    /// Whether it is set at first.
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
