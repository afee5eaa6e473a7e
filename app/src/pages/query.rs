//! Query parameters of pages: the filters and the cursor of a list.

use leptos_router::params::ParamsMap;
use time::Date;

use crate::model::admin::audit_log::SEARCHED_DAY;

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
