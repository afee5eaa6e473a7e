//! A leading figure.

use leptos::prelude::*;

/// A figure with its name; several stand in a `div` with the class `figures`.
#[component]
pub fn Figure(
    /// What it is.
    label: &'static str,
    /// How much.
    value: String,
    /// Of what: `ms`.
    #[prop(optional)]
    unit: &'static str,
    /// What to know about it.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="figure">
            <span class="figure__label">{label}</span>
            <span class="figure__value">
                {value} {(!unit.is_empty()).then(|| view! { <span class="figure__unit">" " {unit}</span> })}
            </span>
            <span class="figure__note">{children()}</span>
        </div>
    }
}
