//! The product's name as a link home.

use leptos::prelude::*;

/// Mark and name, as a link to the landing page.
#[component]
pub fn Brand(
    /// Additional classes of the link.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    view! {
        <a class=format!("brand {class}") href="/">
            <svg class="brand__mark" viewBox="0 0 32 32" aria-hidden="true">
                <path class="brand__plate" d="M2 2h28v28H2z" />
                <circle class="brand__spot" cx="16" cy="16" r="7" />
                <path class="brand__cross" d="M16 4v24M4 16h24" stroke-width="2" />
                <circle class="brand__cross" cx="16" cy="16" r="7" fill="none" stroke-width="2" />
            </svg>
            <span class="brand__name">"Platen"</span>
        </a>
    }
}
