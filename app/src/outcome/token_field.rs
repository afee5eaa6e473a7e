//! What the link of a mail brings along.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// Hands `token` of the page's query on in the form, out of sight.
#[component]
pub fn TokenField() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    view! { <input type="hidden" name="token" value=token /> }
}
