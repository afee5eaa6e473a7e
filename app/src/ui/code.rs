//! Code samples.

use leptos::prelude::*;

use super::copy_button::CopyButton;

/// A framed code sample with a copy button, which appears once the page is interactive.
#[component]
pub fn Code(
    #[prop(into)] title: String,
    /// Accessible name.
    #[prop(into)]
    label: String,
    /// Text that the button copies.
    #[prop(into)]
    text: String,
    /// Additional classes of the frame.
    #[prop(optional)]
    class: &'static str,
    /// The code as displayed.
    children: Children,
) -> impl IntoView {
    view! {
        <div class=format!("code {class}")>
            <div class="code__bar">
                <span>{title}</span>
                <CopyButton text=text label=format!("Copy: {label}") />
            </div>
            <pre class="code__body" tabindex="0" role="group" aria-label=label>
                <code>{children()}</code>
            </pre>
        </div>
    }
}
