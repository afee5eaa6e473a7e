//! Progress bars.

use leptos::prelude::*;

/// A progress bar. The figures are beside it.
#[component]
pub fn Progress(
    value: i64,
    /// The value at the end.
    most: i64,
    /// Accessible name.
    label: String,
) -> impl IntoView {
    view! { <progress class="progress" value=value.to_string() max=most.max(1).to_string() aria-label=label></progress> }
}
