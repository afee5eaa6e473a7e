//! The token of a mailed link.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// Hidden field with the `token` of the page's query.
#[component]
pub fn TokenField() -> impl IntoView {
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    view! { <input type="hidden" name="token" value=token /> }
}
