//! Parameters in the addresses of pages: ids, and the filters and the cursor of a list.

use std::str::FromStr;

use leptos::prelude::*;
use leptos_router::{
    hooks::{use_params_map, use_query_map},
    params::ParamsMap,
};
use time::{Date, format_description::FormatItem, macros::format_description};

use crate::{error::AppError, ui::pager::Pager};

/// Format of the days of a search.
const DAY: &[FormatItem] = format_description!("[year]-[month]-[day]");
/// Parameters that are days.
const DAYS: [&str; 2] = ["from", "to"];

/// Returns the id in the path of the page. Nothing is found for an invalid one.
pub fn id_in_path<I>(parse: impl Fn(&str) -> Option<I>) -> Result<I, AppError> {
    let id = use_params_map().read_untracked().get("id");
    id.and_then(|id| parse(&id)).ok_or(AppError::NotFound)
}

/// The search of a list: the values of its filters, and the cursor of its page.
#[derive(Debug, Clone)]
pub struct ListQuery {
    values: Vec<(&'static str, String)>,
    cursor: Option<String>,
}

impl ListQuery {
    /// Reads the search from the address of the page.
    pub fn of_page(filters: &[&'static str]) -> Self {
        let query = use_query_map().read_untracked();
        Self::read(filters, |name| query.get(name))
    }

    /// Reads the search from these parameters.
    pub fn of<S: AsRef<str>>(filters: &[&'static str], parameters: &[(S, S)]) -> Self {
        Self::read(filters, |wanted| {
            let (_, value) = parameters.iter().find(|(name, _)| name.as_ref() == wanted)?;
            Some(value.as_ref().to_owned())
        })
    }

    /// Reads the search from parameters, without U+0000, which PostgreSQL rejects. Empty values and invalid days are ignored.
    fn read(filters: &[&'static str], value: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| {
            let value = value(name)?.replace('\0', "");
            (!value.is_empty()).then_some(value)
        };
        let is_valid = |name: &str, value: &str| !DAYS.contains(&name) || Date::parse(value, DAY).is_ok();
        let values = filters
            .iter()
            .filter_map(|name| Some((*name, value(name).filter(|value| is_valid(name, value))?)));
        Self {
            values: values.collect(),
            cursor: value("cursor"),
        }
    }

    /// Returns the value of a filter.
    pub fn text(&self, filter: &str) -> Option<String> {
        let mut values = self.values.iter();
        values.find(|(name, _)| *name == filter).map(|(_, value)| value.clone())
    }

    /// Returns the value of a filter, unless it is absent or invalid.
    pub fn get<T: FromStr>(&self, filter: &str) -> Option<T> {
        self.text(filter)?.parse().ok()
    }

    /// Returns a day.
    pub fn day(&self, filter: &str) -> Option<Date> {
        Date::parse(&self.text(filter)?, DAY).ok()
    }

    /// Returns the cursor: the page begins after this item.
    pub fn cursor<T: FromStr>(&self) -> Option<T> {
        self.cursor.as_ref()?.parse().ok()
    }

    /// Returns whether this is the first page.
    pub fn is_first(&self) -> bool {
        self.cursor.is_none()
    }

    /// Returns whether all filters are empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the address of the page of the search that begins after a cursor.
    pub fn address(&self, path: &str, cursor: Option<String>) -> String {
        let values = self.values.iter().map(|(name, value)| (*name, Some(value.clone())));
        address(path, values.chain([("cursor", cursor)]))
    }

    /// Returns the address of the first page, unless this is it.
    pub fn newest(&self, path: &str) -> Option<String> {
        (!self.is_first()).then(|| self.address(path, None))
    }

    /// Returns the address of the next page, if there is one.
    pub fn older(&self, path: &str, next: Option<impl ToString>) -> Option<String> {
        next.map(|next| self.address(path, Some(next.to_string())))
    }

    /// The pager of the list, or `None` if nothing is shown and nothing follows.
    pub fn pager(&self, path: &str, shown: usize, next: Option<impl ToString>) -> Option<AnyView> {
        let note = match (shown, self.is_first()) {
            (0, _) if next.is_none() => return None,
            (0, _) => "No matches so far".to_owned(),
            (_, true) => format!("1 to {shown}, newest first"),
            (_, false) => format!("{shown} older, newest first"),
        };
        Some(view! { <Pager note newest=self.newest(path) older=self.older(path, next) /> }.into_any())
    }
}

/// Escapes a value of any content for [`address`], because the router decodes values once more than they are encoded, both
/// when they are inserted and when they are read.
pub fn literal(value: &str) -> String {
    value.replace('%', "%2525")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_have_no_nul() {
        let query = ListQuery::of(&["q", "from"], &[("q", "a\0b"), ("from", "\0")]);
        assert_eq!(query.text("q").as_deref(), Some("ab"));
        assert_eq!(query.text("from"), None);
    }
}
