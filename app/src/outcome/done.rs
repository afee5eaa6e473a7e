//! Notice of a completed action. Forms redirect to a page with `?done=` and a word for the action.

use leptos::{prelude::*, server::ServerActionError};
use leptos_router::hooks::use_query_map;

use crate::ui::notice::DoneNotice;

/// Shows the notice, if the page knows the word and no form was rejected since.
#[component]
pub fn Done(
    /// Returns the notice for a word.
    about: fn(&str) -> Option<&'static str>,
) -> impl IntoView {
    let refused = use_context::<ServerActionError>().is_some();
    let word = use_query_map().read_untracked().get("done").filter(|_| !refused);
    let words = word.and_then(|word| about(&word));
    words.map(|words| view! { <DoneNotice>{words}</DoneNotice> })
}
