//! Code to read and to take along.

use leptos::prelude::*;

use crate::islands::copy_button::CopyButton;

/// A framed piece of code, with a button that copies it once the page can.
#[component]
pub fn Code(
    /// What stands over it.
    #[prop(into)]
    title: String,
    /// What screen readers call it.
    #[prop(into)]
    label: String,
    /// What the button copies.
    #[prop(into)]
    text: String,
    /// More classes of the frame.
    #[prop(optional)]
    class: &'static str,
    /// The code as it is shown.
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
