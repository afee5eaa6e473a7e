//! A part of a page that the browser shows anew when the server says that it has changed.

use leptos::prelude::*;

/// See `frontend/elements/live-part.ts`. Nothing in it may be an island: what is shown anew is not taken over.
#[component]
pub fn LivePart(
    /// Names it in the page.
    id: &'static str,
    /// Where its changes are told; none: it changes no more.
    events: Option<String>,
    /// Whether it may have changed since the page was written: something in it is not done yet.
    unsettled: bool,
    /// What screen readers are told when it is another one than before.
    says: String,
    /// Its content.
    children: Children,
) -> impl IntoView {
    view! {
        <live-part id=id data-events=events data-unsettled=unsettled.then_some("") data-says=says>
            {children()}
        </live-part>
    }
}
