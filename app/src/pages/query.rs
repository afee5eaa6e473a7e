//! Words in the query of a page: what a list is searched by, and where it goes on.

use leptos_router::params::ParamsMap;

/// What a query says; `None`: nothing.
pub fn asked(query: &ParamsMap, name: &str) -> Option<String> {
    query.get(name).filter(|value| !value.is_empty())
}

/// A page with these words in its query. What is `None` or empty is left out.
pub fn address(path: &str, words: impl IntoIterator<Item = (&'static str, Option<String>)>) -> String {
    let mut query = ParamsMap::new();
    for (name, word) in words {
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            query.insert(name, word);
        }
    }
    format!("{path}{}", query.to_query_string())
}
