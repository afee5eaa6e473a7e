//! Renders, as their account sees them.

pub mod detail;

use platen_domain::render::{
    history::{RenderMode, RenderState},
    statistics::RenderGlance,
};
use time::{Date, OffsetDateTime};

/// A search for renders. Absent criteria match all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderSearch {
    /// An id, or part of a title or of a template's name.
    pub text: String,
    pub state: Option<RenderState>,
    pub mode: Option<RenderMode>,
    /// With live keys, or with test keys.
    pub live: Option<bool>,
    /// Id of the template.
    pub template: Option<String>,
    /// Id of the key.
    pub key: Option<String>,
    /// First day of acceptance.
    pub from: Option<Date>,
    /// Last day of acceptance.
    pub to: Option<Date>,
    /// Cursor: the page begins after this render.
    pub after: Option<String>,
}

/// A page of renders.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderPage {
    /// The newest first.
    pub renders: Vec<RenderLine>,
    /// Cursor of the next page, if there is one.
    pub next: Option<String>,
    /// Renders since the first of the month. `None` if there are too many to count.
    pub this_month: Option<i64>,
    /// The first of the month.
    pub month: Date,
    /// Days for which the plan retains renders.
    pub retention_days: i32,
    /// The latest renders regardless of the search, the oldest first.
    pub latest: Vec<RenderGlance>,
    /// Ids and names of the account's templates.
    pub templates: Vec<(String, String)>,
    /// Ids and names of the account's keys.
    pub keys: Vec<(String, String)>,
}

/// A render in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderLine {
    pub id: String,
    /// The template, URL or HTML that it is made from.
    pub source: String,
    /// Title of the document.
    pub title: Option<String>,
    pub state: RenderState,
    pub mode: RenderMode,
    /// `false` for a test key.
    pub live: bool,
    /// Name of the key that requested it.
    pub key: Option<String>,
    /// Number of pages.
    pub pages: Option<i32>,
    /// Credits charged.
    pub credits: Option<i64>,
    /// Milliseconds from acceptance to the end.
    pub took_ms: Option<f64>,
    /// Time of acceptance.
    pub at: OffsetDateTime,
}

/// Returns the first and last characters of an id, for lists. Ids in one list don't collide in these.
pub fn short_id(id: &str) -> String {
    match (id.get(..8), id.len().checked_sub(4).and_then(|end| id.get(end..))) {
        (Some(first), Some(last)) if id.len() > 12 => format!("{first}…{last}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_by_their_ends() {
        assert_eq!(short_id("0193f2b8-4c1e-7a90-b2d5-9e10c4f077ac"), "0193f2b8…77ac");
        assert_eq!(short_id("ä"), "ä");
    }
}
