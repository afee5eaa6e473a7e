//! Key figures.

use leptos::prelude::*;

/// A figure with its label. Groups of figures are in a `div` with the class `figures`.
#[component]
pub fn Figure(
    label: &'static str,
    value: String,
    /// Unit, such as `ms`.
    #[prop(optional)]
    unit: &'static str,
    /// A note about it.
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
