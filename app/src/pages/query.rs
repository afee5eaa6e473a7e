//! Query parameters of pages: the filters and the cursor of a list.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use time::Date;

use crate::{model::admin::audit_log::SEARCHED_DAY, ui::pager::Pager};

/// Returns a parameter of the query, or `None` if it is absent or empty.
pub fn asked(query: &ParamsMap, name: &str) -> Option<String> {
    query.get(name).filter(|value| !value.is_empty())
}

/// Writes a day as a parameter: `2026-11-21`.
pub fn written(day: Option<Date>) -> Option<String> {
    day.and_then(|day| day.format(SEARCHED_DAY).ok())
}

/// Returns `path` with these parameters. Those that are `None` or empty are omitted.
pub fn address(path: &str, words: impl IntoIterator<Item = (&'static str, Option<String>)>) -> String {
    let mut query = ParamsMap::new();
    for (name, word) in words {
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            query.insert(name, word);
        }
    }
    format!("{path}{}", query.to_query_string())
}

/// The pager of a list, or `None` if nothing is shown. `address` returns the address of the page after a cursor.
pub fn pager(
    shown: usize,
    is_first: bool,
    next: Option<String>,
    address: impl Fn(Option<String>) -> String,
) -> Option<AnyView> {
    let note = match (shown, is_first) {
        (0, _) => return None,
        (_, true) => format!("1 to {shown}, newest first"),
        (_, false) => format!("{shown} older ones, newest first"),
    };
    let newest = (!is_first).then(|| address(None));
    let older = next.map(|next| address(Some(next)));
    Some(view! { <Pager note newest older /> }.into_any())
}
