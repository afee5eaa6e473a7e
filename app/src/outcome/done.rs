//! What was just done: forms lead to a page with `?done=` and a word.

use leptos::{prelude::*, server::ServerActionError};
use leptos_router::hooks::use_query_map;

use crate::ui::notice::DoneNotice;

/// Says what was done, if the page knows the word, and no form was refused since.
#[component]
pub fn Done(
    /// What the page says about a word.
    about: fn(&str) -> Option<&'static str>,
) -> impl IntoView {
    let refused = use_context::<ServerActionError>().is_some();
    let word = use_query_map().read_untracked().get("done").filter(|_| !refused);
    let words = word.and_then(|word| about(&word));
    words.map(|words| view! { <DoneNotice>{words}</DoneNotice> })
}
