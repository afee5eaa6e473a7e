//! A part of a page that the browser reloads when the server notifies it of a change.

use leptos::prelude::*;

/// See `frontend/elements/live-part.ts`. It must not contain islands, because reloaded content is not hydrated.
#[component]
pub fn LivePart(
    /// Unique in the page.
    id: &'static str,
    /// Address of the event stream for its changes. `None`: it doesn't change any more.
    events: Option<String>,
    /// Whether it may have changed since the page was rendered, because some item in it is unfinished.
    #[prop(optional)]
    unsettled: bool,
    /// Minimum number of seconds between two refreshes, if the page is expensive.
    #[prop(optional)]
    every: Option<u32>,
    /// Announcement for screen readers when it differs from the previous one.
    #[prop(optional)]
    says: String,
    children: Children,
) -> impl IntoView {
    view! {
        <live-part id=id data-events=events data-unsettled=unsettled.then_some("") data-every=every data-says=says>
            {children()}
        </live-part>
    }
}
